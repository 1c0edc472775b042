"""Reads a report with somebody else's parser and prints what it holds: read.py FORMAT FILE."""

import json
import sys
import xml.etree.ElementTree as ElementTree
from collections import defaultdict
from pathlib import Path


def prometheus(text: str) -> dict:
    from prometheus_client.parser import text_string_to_metric_families

    read: dict = defaultdict(lambda: defaultdict(float))
    seen = set()
    for family in text_string_to_metric_families(text):
        name = family.name.removeprefix("karpenter_preflight_")
        assert family.type == "gauge" and family.documentation, family
        assert name not in read, f"{name} is there in two places"
        for sample in family.samples:
            key = (sample.name, *sorted(sample.labels.items()))
            assert key not in seen, f"{key} is there twice"
            seen.add(key)
            assert {"account", "region", "cluster"} <= set(sample.labels), sample
            if "status" in sample.labels:
                read[name][sample.labels["status"]] += sample.value
            else:
                read[name] = sample.value
    assert text.endswith("\n")
    return read


def junit(text: str) -> dict:
    root = ElementTree.fromstring(text)
    assert root.tag == "testsuites"
    kinds = {"tests": "testcase", "failures": "failure", "errors": "error", "skipped": "skipped"}
    counted = {name: len(list(root.iter(tag))) for name, tag in kinds.items()}
    for name, count in counted.items():
        assert int(root.get(name)) == count, f"{name} are {count}, and it says {root.get(name)}"
        for suite in root:
            inside = len(list(suite.iter(kinds[name])))
            assert int(suite.get(name)) == inside, ElementTree.tostring(suite)
    return counted


if __name__ == "__main__":
    reader = {"prometheus": prometheus, "junit": junit}[sys.argv[1]]
    print(json.dumps(reader(Path(sys.argv[2]).read_text())))

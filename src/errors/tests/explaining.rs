//! Counting, folding, order, times, and inputs of any size and shape.

use std::io::{self, BufRead, Read};

use super::{all, explained, samples};
use crate::errors::{explain::explain, window::BLOCK};

/// A log line at a second of a minute.
fn line(second: u32, error: &str) -> String {
    let error = serde_json::Value::from(error);
    format!(
        "{{\"level\":\"ERROR\",\"time\":\"2025-05-01T10:00:{second:02}.000Z\",\"error\":{error}}}\n"
    )
}

#[test]
fn occurrences_are_counted_with_first_and_last_time() {
    let log = [
        line(5, "SubnetSelector did not match any Subnets"),
        line(6, "all is well"),
        line(9, "no subnets exist given constraints"),
        line(7, "SubnetsNotFound: SubnetSelector did not match any Subnets"),
    ]
    .concat();
    let explanation = explained(&log);
    let [group] = &explanation.groups[..] else { panic!("{:?}", explanation.groups) };
    let seen = &group.seen;
    assert_eq!((seen.count, seen.line), (3, 1));
    assert_eq!(seen.first.as_ref().unwrap().text, "2025-05-01T10:00:05.000Z");
    assert_eq!(seen.last.as_ref().unwrap().text, "2025-05-01T10:00:09.000Z");
    assert_eq!(seen.sample, line(5, "SubnetSelector did not match any Subnets").trim());
    assert_eq!((explanation.lines, explanation.bytes), (4, log.len() as u64));
}

#[test]
fn a_message_and_its_reason_are_one_occurrence() {
    let condition = "    Last Transition Time:  2025-06-01T10:00:00Z\n    Message:  NodeClass not found on cluster\n    Reason:   NodeClassNotFound\n";
    let counts = |text: &str| {
        explained(text).groups.iter().map(|group| group.seen.count).collect::<Vec<_>>()
    };
    assert_eq!(counts(condition), [1]);
    assert_eq!(counts(&condition.repeat(3)), [3]);
}

#[test]
fn consequences_are_folded_under_their_cause() {
    let log = [
        line(1, "no nodepools found"),
        line(2, "ignoring nodepool, not ready"),
        line(3, "SubnetSelector did not match any Subnets"),
        line(4, "SubnetsReady=False"),
    ]
    .concat();
    let explanation = explained(&log);
    let [group] = &explanation.groups[..] else { panic!("{:?}", explanation.groups) };
    assert_eq!(group.entry.id, "subnets-not-found");
    assert_eq!(
        all(&explanation),
        ["subnets-not-found", "no-nodepools-found", "nodeclass-not-ready"]
    );
    assert_eq!(group.follow_ups[0].seen.count, 2);
}

#[test]
fn of_several_causes_the_one_in_the_same_message_is_taken() {
    let fleet = |code: &str| format!("creating instance, with fleet error(s), {code}");
    let log = [
        line(1, "VcpuLimitExceeded: You have requested more vCPU capacity"),
        line(2, &fleet("InsufficientFreeAddressesInSubnet: There are not enough free addresses")),
    ]
    .concat();
    let explanation = explained(&log);
    let ids = all(&explanation);
    assert_eq!(ids, ["vcpu-limit-exceeded", "insufficient-free-addresses", "create-fleet-failed"]);
}

#[test]
fn a_consequence_alone_stands_by_itself() {
    assert_eq!(all(&explained("no nodepools found")), ["no-nodepools-found"]);
}

#[test]
fn a_code_is_not_shown_beside_what_explains_it() {
    let denied =
        "api error UnauthorizedOperation: You are not authorized to perform this operation.";
    assert_eq!(all(&explained(denied)), ["unauthorized-operation"]);
    let told = format!("getting subnets, describing subnets with filters [], {denied}");
    assert_eq!(all(&explained(&told)), ["subnets-not-readable"]);
    let apart =
        format!("{}{}", line(1, denied), line(2, "SubnetSelector did not match any Subnets"));
    assert_eq!(all(&explained(&apart)), ["subnets-not-found", "unauthorized-operation"]);
}

#[test]
fn nothing_found_names_similar_entries() {
    let explanation = explained("the controller says that subnet selectors did match no subnets");
    assert!(explanation.groups.is_empty());
    assert_eq!(explanation.nearest[0].entry.id, "subnets-not-found");
}

/// An input of which no part is ever in memory as a whole: filler, with an error now and then.
struct Endless {
    buffer: Vec<u8>,
    at: usize,
    blocks: usize,
    error: &'static str,
}

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.len().min(buffer.len());
        buffer[..count].copy_from_slice(&self.buffer[self.at..self.at + count]);
        self.consume(count);
        Ok(count)
    }
}

impl BufRead for Endless {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.at == self.buffer.len() && self.blocks > 0 {
            self.blocks -= 1;
            self.at = 0;
            // An odd length moves the error across every edge of every block.
            let filler = "all is well, nothing to see here\n".repeat(3000 + self.blocks % 7);
            self.buffer =
                format!("{filler}{}\n{}", self.error, "x".repeat(self.blocks % 31)).into_bytes();
        }
        Ok(&self.buffer[self.at..])
    }

    fn consume(&mut self, count: usize) {
        self.at += count;
    }
}

#[test]
fn every_occurrence_in_a_long_input_is_counted_once() {
    for error in [
        "SubnetSelector did not match any Subnets",
        "FailedMount pod/x Unable to attach\nor mount volumes: timed out\r\nwaiting for the condition",
    ] {
        let input = Endless { buffer: Vec::new(), at: 0, blocks: 60, error };
        let explanation = explain(input).unwrap();
        let counts: Vec<_> = explanation.groups.iter().map(|group| group.seen.count).collect();
        assert_eq!(counts, [60], "{error}");
    }
}

#[test]
fn an_error_across_the_edge_of_a_block_is_found_once() {
    let error =
        "AttachVolume.Attach failed for volume \"pvc-0a1b2c3d\" : rpc error: code = Internal";
    for cut in (0..=error.len()).step_by(7) {
        let filler = "all is well, nothing to see here\n".repeat(BLOCK / 33 + 1);
        let text = format!("{}\n{error}\n{filler}", &filler[..BLOCK - 1 - cut]);
        let explanation = explained(&text);
        assert_eq!(all(&explanation), ["volume-attach-failed"], "{cut}");
        assert_eq!(explanation.groups[0].seen.count, 1, "{cut}");
        assert_eq!(explanation.groups[0].seen.sample, error, "{cut}");
    }
}

#[test]
fn one_endless_line_is_no_harm() {
    let text =
        "x".repeat(700_000) + "SubnetSelector did not match any Subnets" + &"y".repeat(1_300_000);
    let explanation = explained(&text);
    assert_eq!(all(&explanation), ["subnets-not-found"]);
    assert!(explanation.groups[0].seen.sample.len() < 1000);
    let blank = " \n".repeat(1_000_000) + "SubnetsNotFound";
    assert_eq!(explained(&blank).groups[0].seen.line, 1_000_001);
}

#[test]
fn any_bytes_can_be_read() {
    let mut state = 1_u64;
    for sample in samples() {
        let mut bytes = sample.text.into_bytes();
        for _ in 0..3 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let at = (state >> 33) as usize % bytes.len();
            match state % 4 {
                0 => bytes[at] = (state >> 24) as u8,
                1 => bytes.truncate(at.max(1)),
                2 => bytes.insert(at, b'\\'),
                _ => bytes.insert(at, 0x1b),
            }
            explained(&bytes);
        }
    }
}

#[test]
fn the_answer_does_not_depend_on_how_the_input_is_cut() {
    let log: String =
        samples().iter().enumerate().map(|(n, sample)| line(n as u32 % 60, &sample.text)).collect();
    let whole = serde_json::to_string(&explained(&log)).unwrap();
    for size in [1, 7, 4096] {
        let cut = explain(io::BufReader::with_capacity(size, log.as_bytes())).unwrap();
        assert_eq!(serde_json::to_string(&cut).unwrap(), whole);
    }
}

#[test]
fn memory_is_bounded_for_endlessly_many_denials() {
    let denial = |n: u32| {
        line(
            n % 60,
            &format!(
                "User: arn:aws:sts::1:assumed-role/r/s is not authorized to perform: s3:GetObject on resource: arn:aws:s3:::bucket-{n}"
            ),
        )
    };
    let log: String = (0..600).map(denial).collect();
    let explanation = explained(&log);
    assert_eq!((explanation.denials.len(), explanation.unlisted), (500, 100));
    assert_eq!(explanation.groups[0].seen.count, 600);
}

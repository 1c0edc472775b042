//! A sample still shows its entry with other names, wrapped, escaped, in other letters.

use super::{first, samples};

/// Checks that every sample, changed by `change`, still shows its entry first.
fn survives(name: &str, change: impl Fn(&str) -> String) {
    let wrong: Vec<_> = samples()
        .into_iter()
        .map(|sample| (first(change(&sample.text)), sample))
        .filter(|(found, sample)| *found != sample.id)
        .map(|(found, sample)| format!("{} not {found}: {}", sample.id, change(&sample.text)))
        .collect();
    assert!(wrong.is_empty(), "{name}:\n{}", wrong.join("\n\n"));
}

/// Breaks lines at `width` characters, in the middle of words.
fn cut(text: &str, width: usize) -> String {
    let wrap = |line: &str| {
        let characters: Vec<char> = line.chars().collect();
        let lines: Vec<String> =
            characters.chunks(width).map(|line| line.iter().collect()).collect();
        lines.join("\n")
    };
    text.lines().map(wrap).collect::<Vec<_>>().join("\n")
}

/// Breaks lines between words, no longer than `width` if possible.
fn fold(text: &str, width: usize) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let mut length = 0;
        for word in line.split(' ') {
            if length > 0 && length + word.len() + 1 > width {
                out.push_str("\n      ");
                length = 0;
            } else if length > 0 {
                out.push(' ');
            }
            out.push_str(word);
            length += word.len() + 1;
        }
        out.push('\n');
    }
    out
}

#[test]
fn other_letters() {
    survives("lower-cased", str::to_lowercase);
    survives("upper-cased", str::to_uppercase);
}

#[test]
fn wrapped() {
    for width in [40, 60, 80, 100] {
        survives("cut", |text| cut(text, width));
        survives("folded", |text| fold(text, width));
        survives("folded, CRLF", |text| fold(text, width).replace('\n', "\r\n"));
        survives("quoted", |text| format!("> {}", fold(text, width).replace('\n', "\n> ")));
    }
}

#[test]
fn escaped_into_json() {
    let line = |text: &str| {
        let error = serde_json::json!({
            "level": "ERROR", "time": "2025-05-01T10:00:00.000Z", "logger": "controller",
            "message": "Reconciler error", "error": text,
        });
        format!("{error}\n")
    };
    survives("JSON", line);
    survives("JSON in JSON", |text| line(&line(text)));
    survives("JSON amid other lines", |text| {
        format!("{}{}{}", line("all is well"), line(text), line("all is well again"))
    });
}

#[test]
fn escaped_into_html() {
    let html = |text: &str| {
        let escaped = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        escaped.replace('"', "&quot;")
    };
    survives("HTML", |text| html(text).replace('\'', "&#39;"));
    survives("HTML, hexadecimal", |text| html(text).replace('\'', "&#x27;"));
}

#[test]
fn coloured_and_quoted() {
    survives("coloured", |text| {
        format!("\u{1b}[31m{}\u{1b}[0m", text.replace(' ', "\u{1b}[1m \u{1b}[22m"))
    });
    survives("typographic quotes", |text| text.replace('\'', "’").replace('"', "”"));
    survives("Japanese", |text| {
        format!("次のエラーメッセージが表示されます。\n「{text}」 という内容です。")
    });
    survives("Korean", |text| format!("다음 오류 메시지가 표시됩니다.\n“{text}”"));
    survives("Spanish", |text| {
        format!("Si recibes el siguiente mensaje de error:\n«{text}».\nPara resolver")
    });
}

#[test]
fn other_names() {
    let renames = [
        ("demo", "prod-eu-7"),
        ("example", "my.other_name"),
        ("111122223333", "999988887777"),
        ("us-east-1", "ap-northeast-3"),
        ("eu-west-1", "us-gov-west-1"),
        ("subnet-0abc", "subnet-0f1e2d3c4b5a69788"),
        ("i-0abc", "i-0f1e2d3c4b5a69788"),
        ("RequestID: 1,", "RequestID: 5a1ddbd5-ef80-5bd5-8d11-bbf6ca1b45ea,"),
        (
            "assumed-role/x/1 ",
            "assumed-role/some-very-long-role-name-for-karpenter/eks-prod-karpenter-7d9-0aa1b2c3 ",
        ),
        ("c6i.xlarge", "m7gd.metal"),
        ("al2023@v20241213", "bottlerocket@v1.20.0"),
    ];
    survives("renamed", |text| {
        renames.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
    });
}

#[test]
fn amid_noise() {
    survives("bytes that are no text", |text| format!("\u{feff}{text}\u{0}\u{7}"));
    let utf16 = |text: &str| text.chars().flat_map(|c| [c, '\u{0}']).collect::<String>();
    survives("UTF-16", |text| utf16(text));
    survives("a describe header", |text| {
        format!(
            "Name:         default-abcde\nNamespace:\nLabels:       a=b\nEvents:\n  Type     Reason\n  ----     ------\n  {text}\n"
        )
    });
}

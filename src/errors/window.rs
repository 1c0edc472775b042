//! The part of the input that is looked at: a block, with some text before and after it, so
//! that nothing is missed at its edges. Memory does not grow with the input.

use std::{
    io::{self, BufRead},
    ops::Range,
};

use super::{
    normalize::{position_of, squash_step},
    time,
};

/// How much is read at a time, in bytes.
pub(super) const BLOCK: usize = 512 * 1024;

/// How much of the text around a match can matter, in bytes.
const EDGE: usize = 8 * 1024;

/// How far apart the marks are that tie raw and squashed text, in bytes.
const STEP: usize = 128;

/// The same place in raw and in squashed text.
#[derive(Debug, Clone, Copy, Default)]
struct Mark {
    raw: usize,
    squashed: usize,
    /// Line ends before it, in the window.
    lines: usize,
}

/// A stretch of input, raw and squashed.
#[derive(Debug, Default)]
pub struct Window {
    raw: Vec<u8>,
    squashed: Vec<u8>,
    marks: Vec<Mark>,
    /// What lies before `raw`: bytes and lines.
    pub bytes_before: u64,
    lines_before: u64,
    /// The squashed positions that are to be counted in this window.
    pub fresh: Range<usize>,
    ended: bool,
}

impl Window {
    /// Reads the next block. False when there is nothing left.
    pub fn advance(&mut self, reader: &mut impl BufRead) -> io::Result<bool> {
        if self.ended {
            return Ok(false);
        }
        let resume = self.discard();
        self.ended = read(reader, &mut self.raw)?;
        self.squash_all();
        let start = self.squashed_at(resume);
        let end = if self.ended {
            self.squashed.len() + 1
        } else {
            self.squashed_at(self.raw.len().saturating_sub(EDGE))
        };
        self.fresh = start..end.max(start);
        Ok(true)
    }

    /// Forgets what can no longer matter; returns where the uncounted text now begins.
    fn discard(&mut self) -> usize {
        if self.raw.is_empty() {
            return 0;
        }
        let resume = self.mark_before(self.fresh.end).raw;
        let keep = self.marks.iter().rev().find(|mark| mark.raw + EDGE <= resume);
        let keep = keep.copied().unwrap_or_default();
        self.raw.drain(..keep.raw);
        self.bytes_before += keep.raw as u64;
        self.lines_before += keep.lines as u64;
        resume - keep.raw
    }

    fn squash_all(&mut self) {
        self.squashed.clear();
        self.marks.clear();
        let mut mark = Mark::default();
        while mark.raw < self.raw.len() {
            self.marks.push(mark);
            let mut at = mark.raw;
            while at < self.raw.len() && at < mark.raw + STEP {
                let limit = mark.raw + STEP - at;
                at = squash_step(&self.raw, at, limit, &mut self.squashed);
            }
            let lines = memchr::memchr_iter(b'\n', &self.raw[mark.raw..at]).count();
            let squashed = self.squashed.len();
            mark = Mark { raw: at, squashed, lines: mark.lines + lines };
        }
        self.marks.push(mark);
    }

    pub fn squashed(&self) -> &[u8] {
        &self.squashed
    }

    /// Bytes and lines of the whole input up to the window's end.
    pub fn size(&self) -> (u64, u64) {
        let lines = self.marks.last().map_or(0, |mark| mark.lines) as u64;
        let open_line = self.raw.last().is_some_and(|&byte| byte != b'\n');
        (
            self.bytes_before + self.raw.len() as u64,
            self.lines_before + lines + u64::from(open_line),
        )
    }

    fn mark_before(&self, squashed: usize) -> Mark {
        let after = self.marks.partition_point(|mark| mark.squashed <= squashed);
        self.marks.get(after.saturating_sub(1)).copied().unwrap_or_default()
    }

    /// The squashed position of the last mark at or before a raw position.
    fn squashed_at(&self, raw: usize) -> usize {
        let after = self.marks.partition_point(|mark| mark.raw <= raw);
        self.marks.get(after.saturating_sub(1)).map_or(0, |mark| mark.squashed)
    }

    /// The raw position of a squashed one.
    pub fn raw_at(&self, squashed: usize) -> usize {
        let after = self.marks.partition_point(|mark| mark.squashed <= squashed);
        let mark = self.marks.get(after.saturating_sub(1)).copied().unwrap_or_default();
        position_of(&self.raw, mark.raw, squashed - mark.squashed)
    }

    pub fn raw(&self) -> &[u8] {
        &self.raw
    }

    /// The number of the line in the whole input, counted from 1.
    pub fn line_number(&self, raw: usize) -> u64 {
        let after = self.marks.partition_point(|mark| mark.raw <= raw);
        let mark = self.marks.get(after.saturating_sub(1)).copied().unwrap_or_default();
        let lines = memchr::memchr_iter(b'\n', &self.raw[mark.raw..raw]).count();
        self.lines_before + (mark.lines + lines) as u64 + 1
    }

    /// The start of the line that a raw position is in.
    pub fn line_start(&self, raw: usize) -> usize {
        memchr::memrchr(b'\n', &self.raw[..raw]).map_or(0, |end| end + 1)
    }

    /// The end of the line that a raw position is in.
    pub fn line_end(&self, raw: usize) -> usize {
        memchr::memchr(b'\n', &self.raw[raw..]).map_or(self.raw.len(), |end| raw + end)
    }

    /// The end of the log record that a raw position is in, at most `reach` bytes away.
    pub fn record_end(&self, raw: usize, reach: usize) -> usize {
        let text = &self.raw[raw..self.raw.len().min(raw + reach)];
        let end = memchr::memchr_iter(b'\n', text).find(|end| begins_record(&text[end + 1..]));
        raw + end.unwrap_or(text.len())
    }

    /// Whether no new log record begins between two raw positions.
    pub fn same_record(&self, from: usize, to: usize) -> bool {
        memchr::memchr_iter(b'\n', &self.raw[from..to])
            .all(|end| !begins_record(&self.raw[from + end + 1..]))
    }

    /// The time of the line at a raw position, or of one of the four lines before it.
    pub fn moment(&self, raw: usize) -> Option<time::Moment> {
        let mut start = self.line_start(raw);
        let mut line = &self.raw[start..self.line_end(raw)];
        for _ in 0..5 {
            if let Some(moment) = time::find(line) {
                return Some(moment);
            }
            let end = start.checked_sub(1)?;
            start = self.line_start(end);
            line = &self.raw[start..end];
        }
        None
    }
}

/// Whether the line that `text` begins with is the first of a log record, of an event or of
/// a condition.
pub fn begins_record(text: &[u8]) -> bool {
    const BEGINNINGS: [&[u8]; 8] = [
        b"{",
        b"panic:",
        b"Warning ",
        b"Normal ",
        b"Last Transition Time:",
        b"lastTransitionTime:",
        b"- lastTransitionTime:",
        b"goroutine ",
    ];
    let line = &text[..text.len().min(80)];
    let line = line.trim_ascii_start();
    time::leads(line) || BEGINNINGS.iter().any(|beginning| line.starts_with(beginning))
}

/// Reads up to a block more into `raw`; true at the end of the input.
fn read(reader: &mut impl BufRead, raw: &mut Vec<u8>) -> io::Result<bool> {
    let wanted = raw.len() + BLOCK;
    while raw.len() < wanted {
        let available = match reader.fill_buf() {
            Ok(available) => available,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if available.is_empty() {
            return Ok(true);
        }
        let taken = available.len().min(wanted - raw.len());
        raw.extend_from_slice(&available[..taken]);
        reader.consume(taken);
    }
    Ok(false)
}

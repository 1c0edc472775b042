//! `policy simulate` by itself, optimised: cases on standard input, decisions on standard
//! output, and how many a second on standard error. The oracle is held against it.

use std::{
    io::{self, BufWriter, Write, read_to_string},
    time::Instant,
};

#[allow(dead_code, unused_imports)]
#[path = "../src/iam/mod.rs"]
mod iam;

fn main() -> io::Result<()> {
    let input = read_to_string(io::stdin())?;
    let mut simulator = iam::simulate::Simulator::default();
    let started = Instant::now();
    let answers: Vec<String> = input.lines().map(|line| simulator.line(line)).collect();
    let each_second = answers.len() as f64 / started.elapsed().as_secs_f64();
    eprintln!("ours: {} cases, {each_second:.0} decisions a second", answers.len());
    let mut out = BufWriter::new(io::stdout().lock());
    answers.iter().try_for_each(|answer| writeln!(out, "{answer}"))?;
    out.flush()
}

//! The relay under test, a process of its own.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result};

/// Ends with the value.
pub struct Relay {
    process: Child,
    url: String,
}

impl Relay {
    /// Starts `program` on a free port, which it prints.
    pub fn start(program: &str) -> Result<Self> {
        let mut process = Command::new(program)
            .arg("127.0.0.1:0")
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| program.to_owned())?;
        let mut url = String::new();
        BufReader::new(process.stdout.take().context("no output")?).read_line(&mut url)?;
        Ok(Self { process, url: url.trim().to_owned() })
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    /// The most memory that the process has had so far, in bytes, as Linux counts it.
    pub fn peak_memory(&self) -> Result<usize> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.id()))?;
        let line = status.lines().find(|line| line.starts_with("VmHWM:")).context("no VmHWM")?;
        let kib: usize = line.split_whitespace().nth(1).context("no number")?.parse()?;
        Ok(kib << 10)
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        // It may have died, which is what the tests look for.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// What may wait for a client that does not read: the queue of the example (`MAX_QUEUE`).
pub const fn waiting_bytes(frame: usize) -> usize {
    256 * frame
}

/// What any connection may hold: the read buffer of tungstenite (128 KiB), a frame (`MAX_FRAME`),
/// the write buffer (four frames), and an answer.
pub const CONNECTION_BYTES: usize = 7 * (128 << 10);

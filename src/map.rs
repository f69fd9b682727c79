//! A file as [`Bytes`]: its pages where the system keeps them, to be parsed, sliced and sent between
//! threads like any other buffer, and no copy of it.
//!
//! It saves memory, for the system may drop such pages again while [`read`] takes the file's whole
//! length; and time: one pass over a file of 300 MB that the system had in its cache took a third
//! as long as with [`read`].

#![allow(unsafe_code)]

use std::fs::File;
use std::io::{self, Read};

use bytes::Bytes;
use memmap2::Mmap;

/// The contents of `file`: mapped, or read where there is nothing to map.
///
/// A regular file with a length is mapped, all of it, wherever the file's position is. A pipe, a
/// socket, a terminal, an empty file, or one of those in `/proc`, which have no length, is
/// [`read`], from its position to its end. The map stays when `file` is closed and when it is
/// deleted or replaced by another of its name; it goes with the last clone or slice of the bytes.
///
/// ```no_run
/// use std::fs::File;
///
/// let file = File::open("feed.ndjson")?;
/// // SAFETY: the archive is written once, under another name, and renamed when it is complete.
/// let feed = unsafe { borrowire::map::map(&file)? };
/// println!("{} lines", feed.split(|byte| *byte == b'\n').count());
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Safety
/// As long as the bytes or a slice of them live, nobody may write to the file or shorten it: not
/// this process and no other. No lock prevents it, so it must be known from how the file is used.
/// Otherwise:
///
/// - When a file shrinks, its last pages are gone. To touch them ends the process with a signal
///   (`SIGBUS`; on Windows such files cannot be shortened while they are mapped).
/// - When a file is written to, bytes change that are borrowed as unchanging. What a parser checked
///   (that a span is UTF-8) may no longer hold when it is read: undefined behaviour, not just a
///   wrong answer.
///
/// Appending to a file is allowed: the map ends where the file ended. A log that is rotated by
/// truncation, or a file that an editor may save in place, is to be [`read`].
pub unsafe fn map(file: &File) -> io::Result<Bytes> {
    let metadata = file.metadata()?;
    if !metadata.is_file() || metadata.len() == 0 {
        return read(file);
    }
    // SAFETY: the caller keeps the file from being written to and shortened while the map lives.
    let map = unsafe { Mmap::map(file)? };
    Ok(Bytes::from_owner(map))
}

/// What is left of `reader`, read into memory: for standard input, and for files that may change.
///
/// ```
/// assert_eq!(borrowire::map::read(&b"from a pipe"[..])?, "from a pipe");
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn read(mut reader: impl Read) -> io::Result<Bytes> {
    let mut bytes = Vec::new();
    reader.read_to_end(&mut bytes)?;
    Ok(bytes.into())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::{Seek, SeekFrom, Write};
    use std::path::PathBuf;
    use std::thread;

    use super::*;

    #[test]
    fn a_file_is_its_bytes_wherever_it_is_read_from() {
        for len in [1, 4095, 4096, 4097, 100_000] {
            let contents: Vec<u8> = (0..len).map(|i| (i % 251) as u8).collect();
            let file = TempFile::new("whole", &contents);
            let mut opened = File::open(&file.0).unwrap();
            assert_eq!(read(&opened).unwrap(), contents);
            opened.seek(SeekFrom::Start(1)).unwrap();
            let mapped = mapped(&opened);
            assert_eq!(mapped, contents);
            assert_eq!(read(&opened).unwrap(), contents[1..]);
        }
    }

    #[test]
    fn the_map_outlives_the_file_and_crosses_threads() {
        let contents = vec![7; 10_000];
        let file = TempFile::new("threads", &contents);
        let mapped = mapped(&File::open(&file.0).unwrap());
        drop(file);
        let tail = mapped.slice(9_990..);
        assert_eq!(tail.as_ptr(), mapped[9_990..].as_ptr());
        drop(mapped);
        assert_eq!(thread::spawn(move || tail).join().unwrap(), contents[9_990..]);
    }

    #[test]
    fn an_empty_file_is_no_bytes() {
        let file = TempFile::new("empty", b"");
        assert_eq!(mapped(&File::open(&file.0).unwrap()), "");
    }

    #[test]
    fn what_is_appended_later_is_not_there() {
        let file = TempFile::new("append", b"first\n");
        let mapped = mapped(&File::open(&file.0).unwrap());
        let mut appender = File::options().append(true).open(&file.0).unwrap();
        appender.write_all(&[b'x'; 10_000]).unwrap();
        assert_eq!(mapped, "first\n");
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_is_read() {
        use std::os::fd::OwnedFd;

        let (reader, mut writer) = io::pipe().unwrap();
        let sender = thread::spawn(move || {
            for _ in 0..100 {
                writer.write_all(&[b'x'; 1000]).unwrap();
            }
        });
        let mapped = mapped(&File::from(OwnedFd::from(reader)));
        sender.join().unwrap();
        assert_eq!(mapped, vec![b'x'; 100_000]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_file_is_mapped_and_one_without_a_length_is_read() {
        let file = TempFile::new("maps", &[7; 5000]);
        let name = file.0.file_name().unwrap().to_str().unwrap();
        let is_mapped = || {
            let maps = mapped(&File::open("/proc/self/maps").unwrap());
            std::str::from_utf8(&maps).unwrap().contains(name)
        };
        let read_only = read(File::open(&file.0).unwrap()).unwrap();
        assert!(!is_mapped());
        let mapped = mapped(&File::open(&file.0).unwrap());
        assert!(is_mapped());
        assert_eq!(mapped, read_only);
        drop(mapped);
        assert!(!is_mapped());
    }

    fn mapped(file: &File) -> Bytes {
        // SAFETY: the files of these tests are this test's own, and at most appended to.
        unsafe { map(file).unwrap() }
    }

    /// A file with a name of its own, deleted in the end.
    struct TempFile(PathBuf);

    impl TempFile {
        fn new(name: &str, contents: &[u8]) -> Self {
            let name = format!("borrowire-map-{}-{name}", std::process::id());
            let path = std::env::temp_dir().join(name);
            fs::write(&path, contents).unwrap();
            Self(path)
        }
    }

    impl Drop for TempFile {
        fn drop(&mut self) {
            let _ = fs::remove_file(&self.0);
        }
    }
}

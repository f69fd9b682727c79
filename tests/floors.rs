//! The house stands: every file of the library is on a floor, and uses lower floors only.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn every_file_is_on_a_floor() {
    let floors = floors();
    for (room, path) in files() {
        assert!(floors.contains_key(&room), "{} is on no floor of lib.rs", path.display());
    }
}

#[test]
fn every_file_uses_lower_floors_only() {
    let floors = floors();
    for (room, path) in files() {
        let text = fs::read_to_string(&path).unwrap();
        for (number, used) in uses(&text) {
            let Some(floor) = floors.get(&used) else {
                panic!("{}:{number}: crate::{used} names no module", path.display());
            };
            assert!(
                used == room || *floor < floors[&room],
                "{}:{number}: {room} uses {used}, which is not on a lower floor",
                path.display(),
            );
        }
    }
}

#[test]
fn the_rule_can_fail() {
    let uses: Vec<_> = uses("use crate::waku::MessageView;\n/// [`x`](crate::doc::X)\n").collect();
    assert_eq!(uses, [(1, "waku".to_owned())]);
    let floors = floors();
    assert!(floors["error"] < floors["cursor"] && floors["cursor"] < floors["waku"]);
}

/// The number of each module's floor: blocks of `mod` lines, from the ground up.
fn floors() -> BTreeMap<String, usize> {
    let text = fs::read_to_string(source().join("lib.rs")).unwrap();
    let mut floors = BTreeMap::new();
    let mut floor = 0;
    for line in text.lines() {
        if line.starts_with("// -- ") {
            floor += 1;
        }
        let module = line.strip_prefix("pub mod ").or_else(|| line.strip_prefix("mod "));
        if let Some(module) = module.and_then(|rest| rest.strip_suffix(';')) {
            assert!(floor > 0, "{module} stands before the first floor");
            floors.insert(module.to_owned(), floor);
        }
    }
    floors
}

/// Every file of the library with its room: the top module that it belongs to. The roof (`main.rs`,
/// `cli/`) is a crate of its own and sees only what the library shows.
fn files() -> Vec<(String, PathBuf)> {
    let mut files = Vec::new();
    let mut folders = vec![source()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let inside = path.strip_prefix(source()).unwrap();
            let first = inside.components().next().unwrap().as_os_str();
            let room = Path::new(first).file_stem().unwrap().to_str().unwrap().to_owned();
            if ["lib", "main", "cli"].contains(&room.as_str()) {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else {
                files.push((room, path));
            }
        }
    }
    assert!(files.len() > 10, "the files were not found");
    files
}

/// The modules that a text names as `crate::…`, comments aside, with the line.
fn uses(text: &str) -> impl Iterator<Item = (usize, String)> {
    text.lines().enumerate().flat_map(|(i, line)| {
        let code = line.split("//").next().unwrap();
        let uses: Vec<_> = code.split("crate::").skip(1).collect();
        uses.into_iter().map(move |rest| {
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
            (i + 1, rest[..end.unwrap_or(rest.len())].to_owned())
        })
    })
}

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

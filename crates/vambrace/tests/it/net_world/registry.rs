//! Small registries and a git server, as files and answers of a site.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::http::{Reply, Request, missing, page};

/// The files beneath a folder, as a plain web server gives them.
pub(crate) fn files(folder: &Path, request: &Request) -> Reply {
    let path = request.path().trim_start_matches('/');
    assert!(!path.split('/').any(|part| part == ".."), "{path}");
    match fs::read(folder.join(path)) {
        Ok(bytes) => page("application/octet-stream", bytes),
        Err(_) => missing(),
    }
}

/// git's own server behind `/git/`, for the repositories in this folder.
pub(crate) fn git(folder: &Path, request: &Request) -> Reply {
    let backend = backend();
    let mut command = Command::new(backend);
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.env("GIT_PROJECT_ROOT", folder).env("GIT_HTTP_EXPORT_ALL", "1").env("REMOTE_USER", "test");
    command.env("HOME", folder).env("GIT_CONFIG_NOSYSTEM", "1");
    command.env("PATH_INFO", request.path().strip_prefix("/git").unwrap_or_default());
    command.env("QUERY_STRING", request.query()).env("REQUEST_METHOD", &request.method);
    command.env("CONTENT_TYPE", request.header("content-type").unwrap_or_default());
    command.env("CONTENT_LENGTH", request.body.len().to_string());
    for (header, variable) in
        [("content-encoding", "HTTP_CONTENT_ENCODING"), ("git-protocol", "HTTP_GIT_PROTOCOL")]
    {
        if let Some(value) = request.header(header) {
            command.env(variable, value);
        }
    }
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().unwrap();
    let (mut stdin, body) = (child.stdin.take().unwrap(), request.body.clone());
    let writer = std::thread::spawn(move || stdin.write_all(&body));
    let output = child.wait_with_output().unwrap().stdout;
    let _ = writer.join().unwrap();
    let end = output.windows(4).position(|window| window == b"\r\n\r\n").expect("an answer of the backend");
    let (mut status, mut headers) = (200, Vec::new());
    for line in String::from_utf8_lossy(&output[..end]).lines() {
        let (name, value) = line.split_once(": ").unwrap();
        match name {
            "Status" => status = value.split(' ').next().unwrap().parse().unwrap(),
            _ => headers.push((name.to_owned(), value.to_owned())),
        }
    }
    Reply::Whole { status, headers, body: output[end + 4..].to_vec() }
}

fn backend() -> PathBuf {
    let path = Command::new("git").arg("--exec-path").output().unwrap().stdout;
    PathBuf::from(String::from_utf8(path).unwrap().trim()).join("git-http-backend")
}

/// A packed archive with these files.
pub(crate) fn archive(folder: &Path, files: &[(&str, &str)]) -> Vec<u8> {
    let root = folder.join("archive");
    let mut tops: Vec<&str> = Vec::new();
    for (name, text) in files {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        let top = name.split('/').next().unwrap();
        if !tops.contains(&top) {
            tops.push(top);
        }
    }
    let ended = Command::new("tar").arg("-C").arg(&root).args(["-czf", "-"]).args(tops).output().unwrap();
    assert!(ended.status.success(), "{ended:?}");
    fs::remove_dir_all(root).unwrap();
    ended.stdout
}

/// `sha256sum` or `sha512sum` of these bytes.
pub(crate) fn digest(program: &str, bytes: &[u8]) -> Vec<u8> {
    let mut child = Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(bytes).unwrap();
    let line = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    let digits = line.split_whitespace().next().unwrap().as_bytes().to_vec();
    let pair = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks(2).map(pair).collect()
}

pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(crate) fn base64(bytes: &[u8], letters: &str) -> String {
    let letters = letters.as_bytes();
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let whole =
            chunk.iter().fold(0, |whole, byte| whole << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for place in 0..=chunk.len() {
            text.push(char::from(letters[(whole >> (18 - 6 * place) & 63) as usize]));
        }
    }
    text
}

pub(crate) const STANDARD: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// A ZIP archive of stored files, which is what a wheel is.
pub(crate) fn zip(files: &[(&str, &str)]) -> Vec<u8> {
    let (mut out, mut index) = (Vec::new(), Vec::new());
    for (name, text) in files {
        let offset = u32::try_from(out.len()).unwrap();
        let size = u32::try_from(text.len()).unwrap().to_le_bytes();
        let length = u16::try_from(name.len()).unwrap().to_le_bytes();
        // Versions, flags, stored, a time and a day of 1980, checksum, both sizes, length of the name, nothing more.
        let common = [
            &[20, 0, 0, 0, 0, 0, 0, 0, 33, 0][..],
            &checksum(text.as_bytes()).to_le_bytes(),
            &size,
            &size,
            &length,
            &[0, 0],
        ]
        .concat();
        out.extend([b"PK\x03\x04", &common[..], name.as_bytes(), text.as_bytes()].concat());
        let behind = [&[0; 10][..], &offset.to_le_bytes()].concat();
        index.extend([b"PK\x01\x02\x14\x00", &common[..], &behind, name.as_bytes()].concat());
    }
    let n_files = u16::try_from(files.len()).unwrap().to_le_bytes();
    let (start, size) = (u32::try_from(out.len()).unwrap(), u32::try_from(index.len()).unwrap());
    out.extend(index);
    out.extend([b"PK\x05\x06\0\0\0\0", &n_files[..], &n_files].concat());
    out.extend([&size.to_le_bytes()[..], &start.to_le_bytes(), &[0, 0]].concat());
    out
}

/// CRC-32, bit by bit.
fn checksum(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |sum: u32, byte| {
        (0..8).fold(
            sum ^ u32::from(*byte),
            |sum, _| if sum & 1 == 1 { sum >> 1 ^ 0xedb8_8320 } else { sum >> 1 },
        )
    })
}

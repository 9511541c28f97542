//! No program leaves a file in the workspace that runs as somebody else.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::{Setting, text};

const O_CREATE: &str = "0o101";
/// With the bit of a folder, whose place differs between architectures.
const O_TEMPORARY: &str = "0o20000002 | os.O_DIRECTORY";
const CALL: &str = "import ctypes, os; c = ctypes.CDLL(None, use_errno=True)";

fn mode(path: &Path) -> u32 {
    path.symlink_metadata().unwrap().permissions().mode() & 0o7777
}

/// Everything in the folder, with the modes the host sees.
fn marked(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| mode(path) & 0o6000 != 0).map(|path| path.display().to_string()).collect()
}

/// The system call with these arguments in Python; `F` is an open file, `M` the mode. It fails with every set-id mode
/// and works with ordinary ones.
#[track_caller]
fn check(number: i64, arguments: &str) {
    let mut place = Setting::new();
    for (mode, expected) in [
        ("0o4755", "-1 1"),
        ("0o2755", "-1 1"),
        ("0o6755", "-1 1"),
        ("0o4000", "-1 1"),
        ("0o755", "done"),
        ("0o1700", "done"),
    ] {
        let arguments = arguments.replace('M', mode);
        let code = format!(
            "{CALL}; F = os.open(b\"file\", os.O_CREAT | os.O_RDWR, 0o600); r = c.syscall({number}, {arguments}); \
             print(*((r, ctypes.get_errno()) if r < 0 else (\"done\",)))"
        );
        let captured = place.shell(&format!("rm -rf new; python3 -c '{code}'"));
        let said = format!("{}{}", text(&captured.stdout), text(&captured.stderr));
        assert_eq!(said, format!("{expected}\n"), "call {number}, {arguments}");
        assert_eq!(marked(place.folder.path()), Vec::<String>::new(), "call {number}, {arguments}");
    }
}

#[test]
fn no_call_sets_the_bits() {
    check(libc::SYS_fchmod, "F, M");
    check(libc::SYS_fchmodat, "-100, b\"file\", M");
    check(452, "-100, b\"file\", M, 0"); // fchmodat2
    check(libc::SYS_mknodat, "-100, b\"new\", 0o100000 | M, 0");
    check(libc::SYS_openat, &format!("-100, b\"new\", {O_CREATE}, M"));
    check(libc::SYS_openat, &format!("-100, b\".\", {O_TEMPORARY}, M"));
}

#[cfg(target_arch = "x86_64")]
#[test]
fn no_old_call_sets_the_bits() {
    check(libc::SYS_chmod, "b\"file\", M");
    check(libc::SYS_creat, "b\"new\", M");
    check(libc::SYS_mknod, "b\"new\", 0o100000 | M, 0");
    check(libc::SYS_open, &format!("b\"new\", {O_CREATE}, M"));
}

/// A filter cannot see the mode in it; every library knows kernels without it.
#[test]
fn openat2_is_unknown() {
    let code = format!(
        "{CALL}; how = (ctypes.c_uint64 * 3)({O_CREATE}, 0o4755, 0); \
         print(c.syscall({}, -100, b\"new\", how, 24), ctypes.get_errno())",
        libc::SYS_openat2
    );
    let mut place = Setting::new();
    let captured = place.shell(&format!("python3 -c '{code}'"));
    assert_eq!(text(&captured.stdout), format!("-1 {}\n", libc::ENOSYS), "{}", text(&captured.stderr));
    assert!(!place.folder.path().join("new").exists());
}

/// The kernel takes no such bits for a new folder, so it needs no refusal.
#[test]
fn a_new_folder_has_no_bits_but_inherited_ones() {
    let code = format!("{CALL}; print(c.syscall({}, -100, b\"new\", 0o6755))", libc::SYS_mkdirat);
    let mut place = Setting::new();
    let captured = place.shell(&format!("python3 -c '{code}'"));
    assert_eq!(text(&captured.stdout), "0\n", "{}", text(&captured.stderr));
    assert_eq!(mode(&place.folder.path().join("new")), 0o755);

    let mut place = Setting::new();
    std::fs::set_permissions(place.folder.path(), std::fs::Permissions::from_mode(0o2755)).unwrap();
    let captured = place.shell("mkdir new && cp -r new copy && touch file && echo done");
    assert_eq!(text(&captured.stdout), "done\n", "{}", text(&captured.stderr));
    assert_eq!(mode(&place.folder.path().join("copy")), 0o2755);
    assert_eq!(mode(&place.folder.path().join("file")), 0o644);
}

#[track_caller]
fn works(script: &str, expected: &str) {
    let mut place = Setting::new();
    let captured = place.shell(&format!("set -e\n{script}"));
    let said = format!("{}{}", text(&captured.stdout), text(&captured.stderr));
    assert_eq!(said, expected, "{script}");
}

#[test]
fn everyday_modes_work() {
    works("echo x > f; chmod 755 f; chmod u-w,g+x,o= f; chmod +t . ; stat -c %a f", "550\n");
    works("touch a; mkdir -p b/c; mkdir -m 700 d; stat -c %a a b d", "644\n755\n700\n");
    works(
        "echo x > a; chmod 750 a; cp -p a b; cp -a a c; install -m 640 a d; stat -c %a b c d",
        "750\n750\n640\n",
    );
    works(
        "mkdir s; echo x > s/f; chmod 711 s; tar cf a.tar s; mkdir t; tar xpf a.tar -C t; stat -c %a t/s",
        "711\n",
    );
    works(
        "mktemp -d -p . dXXXXXX > /dev/null; f=$(mktemp -p .); stat -c %a $f; mkfifo p; test -p p",
        "600\n",
    );
    works(
        "python3 -c 'import os, shutil, tempfile, zipfile\n\
         tempfile.TemporaryFile(dir=\".\").write(b\"x\")\n\
         open(\"a.py\", \"w\").write(\"x\")\n\
         os.chmod(\"a.py\", 0o755)\n\
         zipfile.ZipFile(\"w.zip\", \"w\").write(\"a.py\")\n\
         shutil.unpack_archive(\"w.zip\", \"site\")\n\
         shutil.copytree(\"site\", \"lib\")\n\
         print(oct(os.stat(\"lib/a.py\").st_mode & 0o777))'",
        "0o644\n",
    );
}

/// What a program says when it asks for the bits is the kernel's usual refusal.
#[test]
fn a_refusal_reads_as_usual() {
    let mut place = Setting::new();
    let captured = place.shell("touch f; chmod u+s f; chmod 2755 f; install -m 4755 f g; echo $?");
    assert_eq!(text(&captured.stdout), "1\n");
    assert_eq!(
        text(&captured.stderr).matches("Operation not permitted").count(),
        3,
        "{}",
        text(&captured.stderr)
    );
    assert_eq!(marked(place.folder.path()), Vec::<String>::new());
}

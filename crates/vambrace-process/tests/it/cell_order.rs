//! Orders run as bash would run them.

use std::time::Duration;

use vambrace_policy::command::{Join, Redirect, RedirectMode, Stream, Target};
use vambrace_process::cell::{CageError, Exit, Input, Order, Output, Stdio};

use crate::setting::{self, Command, one, order, program};
use crate::{Setting, text};

fn run(words: &[&str]) -> Command {
    Command::Run(program(words))
}

fn redirected(words: &[&str], redirects: Vec<(Stream, (RedirectMode, Target<String>))>) -> Command {
    let mut program = program(words);
    let redirects = redirects.into_iter();
    program.redirects = redirects.map(|(stream, (mode, target))| Redirect { stream, mode, target }).collect();
    Command::Run(program)
}

fn file(path: &str, mode: RedirectMode) -> (RedirectMode, Target<String>) {
    (mode, Target::File(path.to_owned()))
}

#[track_caller]
fn check(order: &Order, exit: Exit, stdout: &str, statuses: &[i32]) {
    let captured = Setting::new().run(order);
    let got = (captured.exit, text(&captured.stdout), captured.statuses);
    assert_eq!(got, (exit, stdout.to_owned(), statuses.to_vec()), "{}", text(&captured.stderr));
}

#[test]
fn joins_and_pipelines() {
    let yes = || run(&["true"]);
    let no = || run(&["false"]);
    let say = |word: &str| run(&["echo", word]);
    use Join::{First, IfFailed, IfOk, Then};
    check(&order(vec![(First, vec![yes()])]), Exit::Code(0), "", &[0]);
    check(&order(vec![(First, vec![no()])]), Exit::Code(1), "", &[1]);
    check(&order(vec![(First, vec![no()]), (IfOk, vec![say("a")])]), Exit::Code(1), "", &[1]);
    check(&order(vec![(First, vec![no()]), (IfFailed, vec![say("a")])]), Exit::Code(0), "a\n", &[1, 0]);
    check(&order(vec![(First, vec![no()]), (Then, vec![say("a")])]), Exit::Code(0), "a\n", &[1, 0]);
    // false && echo a || echo b
    check(
        &order(vec![(First, vec![no()]), (IfOk, vec![say("a")]), (IfFailed, vec![say("b")])]),
        Exit::Code(0),
        "b\n",
        &[1, 0],
    );
    // true || echo a && echo b
    check(
        &order(vec![(First, vec![yes()]), (IfFailed, vec![say("a")]), (IfOk, vec![say("b")])]),
        Exit::Code(0),
        "b\n",
        &[0, 0],
    );
    check(
        &order(vec![(First, vec![say("b"), run(&["tr", "b", "c"]), run(&["cat"])])]),
        Exit::Code(0),
        "c\n",
        &[0; 3],
    );
    check(&order(vec![(First, vec![no(), yes()])]), Exit::Code(0), "", &[1, 0]);
    check(&order(vec![(First, vec![yes(), no()])]), Exit::Code(1), "", &[0, 1]);
    // A writer whose reader has gone ends by SIGPIPE instead of running for ever.
    check(
        &order(vec![(First, vec![run(&["yes"]), run(&["head", "-n", "1"])])]),
        Exit::Code(0),
        "y\n",
        &[141, 0],
    );
}

#[test]
fn entering_a_folder_lasts_unless_it_is_part_of_a_pipeline() {
    let enter = |folder: &str| Command::Enter(folder.to_owned());
    let here = || run(&["pwd"]);
    use Join::{First, IfOk, Then};
    check(&order(vec![(First, vec![enter("/usr")]), (IfOk, vec![here()])]), Exit::Code(0), "/usr\n", &[0, 0]);
    check(&order(vec![(First, vec![enter("/usr"), here()])]), Exit::Code(0), "/work\n", &[0, 0]);
    check(&order(vec![(First, vec![enter("no")]), (IfOk, vec![here()])]), Exit::Code(1), "", &[1]);
    check(
        &order(vec![(First, vec![enter("/usr")]), (Then, vec![enter("bin")]), (Then, vec![here()])]),
        Exit::Code(0),
        "/usr/bin\n",
        &[0; 3],
    );
}

#[test]
fn redirects_in_their_order() {
    use RedirectMode::{Append, Read, Truncate};
    use Stream::{Both, Err, In, Out};
    let loud = ["sh", "-c", "echo out; echo err >&2"];
    let first = |command| (Join::First, vec![command]);
    let cat = |name: &str| (Join::Then, vec![run(&["cat", name])]);
    let to = |name: &str| file(name, Truncate);
    let same = |stream| (Truncate, Target::Stream(stream));
    check(
        &order(vec![first(redirected(&loud, vec![(Out, to("o")), (Err, same(Out))])), cat("o")]),
        Exit::Code(0),
        "out\nerr\n",
        &[0, 0],
    );
    check(
        &order(vec![first(redirected(&loud, vec![(Err, same(Out)), (Out, to("o"))])), cat("o")]),
        Exit::Code(0),
        "err\nout\n",
        &[0, 0],
    );
    check(
        &order(vec![first(redirected(&loud, vec![(Both, to("o"))])), cat("o")]),
        Exit::Code(0),
        "out\nerr\n",
        &[0, 0],
    );
    check(
        &order(vec![first(redirected(&loud, vec![(Both, (Truncate, Target::Null))]))]),
        Exit::Code(0),
        "",
        &[0],
    );
    check(
        &order(vec![
            first(redirected(&["echo", "a"], vec![(Out, to("o"))])),
            (Join::Then, vec![redirected(&["echo", "b"], vec![(Out, file("o", Append))])]),
            (Join::Then, vec![redirected(&["cat"], vec![(In, file("o", Read))])]),
        ]),
        Exit::Code(0),
        "a\nb\n",
        &[0; 3],
    );
    // A file that cannot be opened fails its command only.
    check(
        &order(vec![
            first(redirected(&["cat"], vec![(In, file("none", Read))])),
            (Join::IfFailed, vec![run(&["echo", "so"])]),
        ]),
        Exit::Code(0),
        "so\n",
        &[1, 0],
    );
    check(
        &order(vec![first(redirected(&["echo", "a"], vec![(Out, to("/usr/o"))]))]),
        Exit::Code(1),
        "",
        &[1],
    );
    // Neither through a link, nor into descriptors of the cell, nor waiting at a pipe.
    let link = (Join::First, vec![run(&["ln", "-s", "target", "link"])]);
    check(
        &order(vec![link, (Join::Then, vec![redirected(&["echo"], vec![(Out, to("link"))])])]),
        Exit::Code(1),
        "",
        &[0, 1],
    );
    check(
        &order(vec![first(redirected(&["cat"], vec![(In, file("/proc/self/fd/3", Read))]))]),
        Exit::Code(1),
        "",
        &[1],
    );
    let fifo = (Join::First, vec![run(&["mkfifo", "fifo"])]);
    check(
        &order(vec![fifo, (Join::Then, vec![redirected(&["cat"], vec![(In, file("fifo", Read))])])]),
        Exit::Code(1),
        "",
        &[0, 1],
    );
}

#[test]
fn how_programs_end() {
    assert_eq!(crate::exit_of("exit 7"), Exit::Code(7));
    assert_eq!(crate::exit_of("kill -SEGV $$"), Exit::Signal(11));
    // The first process of the cell does not mind.
    assert_eq!(crate::exit_of("kill -9 1; kill 1; exit 3"), Exit::Code(3));
}

#[test]
fn exactly_this_environment_and_these_words() {
    let mut order = one(&["env"]);
    order.environment = vec![("A".to_owned(), "1 2".to_owned()), ("B".to_owned(), String::new())];
    check(&order, Exit::Code(0), "A=1 2\nB=\n", &[0]);
    check(&one(&["printf", "%s|", "a b", "$HOME", "*", ""]), Exit::Code(0), "a b|$HOME|*||", &[0]);
}

#[test]
fn scripts_and_programs_start_and_others_say_why() {
    let mut place = Setting::new();
    let script = place.folder.path().join("script");
    std::fs::write(&script, "#!/bin/sh\necho script $0 $1\n").unwrap();
    place.run(&one(&["chmod", "755", "script"]));
    let mut words = program(&["script", "a"]);
    let found = std::fs::metadata(&script).unwrap();
    words.file.path = "/work/script".into();
    words.file.device = std::os::unix::fs::MetadataExt::dev(&found);
    words.file.inode = std::os::unix::fs::MetadataExt::ino(&found);
    let captured = place.run(&order(vec![(Join::First, vec![Command::Run(words.clone())])]));
    assert_eq!(text(&captured.stdout), "script /work/script a\n");

    let stdio = || Stdio { input: Input::Null, output: Output::Capture };
    place.run(&one(&["chmod", "644", "script"]));
    let not_executable = order(vec![(Join::First, vec![Command::Run(words.clone())])]);
    match place.cell.run(&not_executable, stdio(), &setting::watch()) {
        Err(CageError::Exec { program, errno }) => {
            assert_eq!((program.to_str(), errno), (Some("/work/script"), 13))
        }
        other => panic!("{other:?}"),
    }
    words.file.inode += 1;
    let changed = order(vec![(Join::First, vec![Command::Run(words)])]);
    match place.cell.run(&changed, stdio(), &setting::watch()) {
        Err(CageError::Changed(program)) => assert_eq!(program.to_str(), Some("/work/script")),
        other => panic!("{other:?}"),
    }
}

#[test]
fn input_is_fed_while_output_is_read() {
    let input: Vec<u8> = (0..300_000u32).flat_map(u32::to_le_bytes).collect();
    let mut place = Setting::new();
    let stdio = Stdio { input: Input::Text(&input), output: Output::Capture };
    let captured = place.cell.run(&one(&["cat"]), stdio, &setting::watch()).unwrap();
    assert!(captured.stdout == input, "{} of {} bytes", captured.stdout.len(), input.len());
    // Who does not read its input is not held up.
    let stdio = Stdio { input: Input::Text(&input), output: Output::Capture };
    assert_eq!(place.cell.run(&one(&["true"]), stdio, &setting::watch()).unwrap().exit, Exit::Code(0));
}

#[test]
fn both_outputs_as_they_come() {
    let mut place = Setting::new();
    let mut seen = Vec::new();
    let mut sink = |channel, bytes: &[u8]| seen.push((channel, bytes.len()));
    let stdio = Stdio { input: Input::Null, output: Output::Stream(&mut sink) };
    let order = one(&["sh", "-c", "head -c 200000 /dev/zero; head -c 100000 /dev/zero >&2"]);
    let captured = place.cell.run(&order, stdio, &setting::watch()).unwrap();
    let sum = |wanted| seen.iter().filter(|(channel, _)| *channel == wanted).map(|(_, n)| n).sum::<usize>();
    assert_eq!(sum(vambrace_process::cell::Channel::Out), 200_000);
    assert_eq!(sum(vambrace_process::cell::Channel::Err), 100_000);
    assert!(captured.stdout.is_empty() && captured.duration > Duration::ZERO);
}

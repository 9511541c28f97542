//! A repository that tries to run things, and programs that try to make one: nothing of it ever runs on the host, and the
//! git tools work in it as in any other.

use std::fs;

use serde_json::{Value, json};

use crate::programs_host::{has, on_host};
use crate::support::{Ran, World};

fn git(world: &World, args: &[&str]) -> Ran {
    let who = ["-c", "user.name=test", "-c", "user.email=test@example.com", "-c", "commit.gpgsign=false"];
    on_host(world, &[&["git"], &who[..], args].concat())
}

/// One commit on `main`, and a change on top of it.
fn repository() -> World {
    let world = World::new();
    world.file("a.txt", "one\n").file("b.bin", "one\n");
    for args in [&["init", "-q", "-b", "main"][..], &["add", "."], &["commit", "-q", "-m", "start"]] {
        let ran = git(&world, args);
        assert_eq!(ran.code, 0, "{ran:?}");
    }
    world.file("a.txt", "one\ntwo\n").file("b.bin", "two\n");
    world
}

/// A program that leaves a trace whoever starts it, and what git gets by it is what it gave.
fn trap(world: &World) -> String {
    let trace = world.work().join("trace");
    let script = format!("#!/bin/sh\necho \"$0 $*\" >> '{}'\ncat 2>/dev/null\nexit 0\n", trace.display());
    let path = world.work().join("trap.sh");
    fs::write(&path, script).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&path, mode).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Every key of a configuration that starts a program, and attributes that choose them.
fn arm(world: &World) {
    let trap = trap(world);
    let config = format!(
        "[core]\n\tfsmonitor = {trap}\n\tpager = {trap}\n\tsshCommand = {trap}\n\teditor = {trap}\n\taskPass = {trap}\n\
         \thooksPath = {hooks}\n\talternateRefsCommand = {trap}\n\tgitProxy = {trap}\n\
         [diff]\n\texternal = {trap}\n[diff \"x\"]\n\tcommand = {trap}\n\ttextconv = {trap}\n\
         [filter \"x\"]\n\tclean = {trap}\n\tsmudge = {trap}\n\trequired = true\n[filter \"y\"]\n\tprocess = {trap}\n\
         [alias]\n\tstatus = !{trap}\n\tst = !{trap}\n[pager]\n\tstatus = {trap}\n\tdiff = {trap}\n[gpg]\n\tprogram = {trap}\n\
         [commit]\n\tgpgSign = true\n[credential]\n\thelper = !{trap}\n[interactive]\n\tdiffFilter = {trap}\n\
         [merge \"x\"]\n\tdriver = {trap}\n[sequence]\n\teditor = {trap}\n[uploadpack]\n\tpackObjectsHook = {trap}\n",
        hooks = world.work().join("hooks").display(),
    );
    let path = world.work().join(".git/config");
    fs::write(&path, fs::read_to_string(&path).unwrap() + &config).unwrap();
    world.file(".gitattributes", "*.txt filter=x diff=x merge=x\n*.bin filter=y diff=x\n");
    for hook in [
        "pre-commit",
        "post-checkout",
        "commit-msg",
        "prepare-commit-msg",
        "post-commit",
        "reference-transaction",
    ] {
        for folder in [".git/hooks", "hooks"] {
            fs::create_dir_all(world.work().join(folder)).unwrap();
            fs::copy(world.work().join("trap.sh"), world.work().join(folder).join(hook)).unwrap();
        }
    }
}

fn traced(world: &World) -> String {
    fs::read_to_string(world.work().join("trace")).unwrap_or_default()
}

fn batch(calls: &[(&str, Value)]) -> String {
    calls
        .iter()
        .map(|(tool, arguments)| format!("{}\n", json!({"tool": tool, "arguments": arguments})))
        .collect()
}

#[test]
fn git_tools_work_in_a_hostile_repository_and_start_nothing_of_it() {
    if !has("git", "hostile repositories") {
        return;
    }
    let world = repository();
    arm(&world);
    git(&world, &["diff"]);
    assert!(!traced(&world).is_empty(), "without protection the trap is sprung");
    fs::remove_file(world.work().join("trace")).unwrap();

    let ran = world.feed(
        &["call", "--batch"],
        batch(&[
            ("git_status", json!({})),
            ("git_diff", json!({})),
            ("git_diff", json!({"path": "a.txt"})),
            ("git_add", json!({"files": ["a.txt", "b.bin"]})),
            ("git_diff", json!({"staged": true})),
            ("git_commit", json!({"message": "feat: add a second line"})),
            ("git_checkout", json!({"branch": "feature/other", "create_if_missing": true})),
            ("git_status", json!({})),
            (
                "exec_shell",
                json!({"command": "git status --short && git log --oneline && git diff HEAD~1 && git show"}),
            ),
            ("exec_shell", json!({"command": "git blame a.txt | head -1"})),
        ]),
    );
    let answers = ran.lines();
    let errors: Vec<&Value> =
        answers.iter().map(|answer| &answer["error"]).filter(|error| !error.is_null()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    assert_eq!(traced(&world), "", "something of the repository ran");
    assert!(answers[0]["data"].to_string().contains("a.txt"), "{}", answers[0]);
    assert!(answers[1]["data"].to_string().contains("+two"), "{}", answers[1]);
    assert!(answers[4]["data"].to_string().contains("+two"), "{}", answers[4]);
    assert_eq!(answers[8]["data"]["exit_code"], 0, "{}", answers[8]);
    // Whoever relies on the hooks is told that they were left out.
    let skipped = answers[5]["data"]["hooks_not_run"].to_string();
    assert!(skipped.contains("pre-commit") && skipped.contains("commit-msg"), "{}", answers[5]);
    assert!(answers[5]["metadata"]["warnings"].to_string().contains("Hooks were not run"), "{}", answers[5]);

    // The host looks with a configuration that it trusts.
    let subject =
        on_host(&world, &["git", "-c", "core.fsmonitor=false", "--no-pager", "log", "-1", "--format=%s %D"]);
    assert_eq!(subject.text(), "feat: add a second line HEAD -> feature/other, main\n", "{subject:?}");
    let text =
        on_host(&world, &["git", "--no-pager", "show", "--no-ext-diff", "--no-textconv", "HEAD:a.txt"]);
    assert_eq!(text.text(), "one\ntwo\n", "{text:?}");
}

#[test]
fn an_example_of_an_environment_file_is_committed_and_no_other() {
    if !has("git", "examples of environment files in git") {
        return;
    }
    let world = repository();
    for name in [".env.example", "sub/.env.Dist", ".env.local", ".env.example.local", ".env.e", "sub/.env."] {
        world.file(name, "WHERE=here\n");
    }
    let calls = batch(&[
        ("git_add", json!({"files": [".", ".env.example"]})),
        ("git_commit", json!({"message": "feat: show what to set"})),
    ]);
    let answers = world.feed(&["call", "--batch"], calls).lines();
    assert!(answers.iter().all(|answer| answer["status"] == "success"), "{answers:?}");
    let changed = git(&world, &["show", "--name-only", "--format=", "HEAD"]).text();
    assert_eq!(changed, ".env.example\na.txt\nb.bin\nsub/.env.Dist\n");
}

/// What an operator hides from programs, git takes for deleted or emptied in the sandbox. It must
/// neither stage nor tell that, and must stage everything else.
#[test]
fn a_file_that_the_operator_hides_is_not_committed_as_deleted() {
    if !has("git", "files that operators hide from git") {
        return;
    }
    let rows = [
        ("", "rules: [{tool: read_file, path: 'rd/**', decision: ask}]"),
        ("", "rules: [{tool: list_files, path: rd, decision: deny}]"),
        (
            "",
            "rules: [{tool: read_file, path: rd, decision: deny}, {tool: write_file, path: 'x/**', decision: ask}]",
        ),
        ("", "scope: {block_patterns: ['/rd', '*.{pem,key}']}"),
        ("", "scope: {block_patterns: ['/rd/R.TXT']}"),
        ("own", "rules: [{tool: read_file, path: 'own/rd/**', decision: deny}]"),
        ("own", "rules: [{tool: exec_shell, path: '*/rd/*.txt', decision: deny}]"),
        ("own", "scope: {block_patterns: ['own/rd', 'oth*/x']}"),
        ("own", "rules: [{tool: read_file, path: '**/own/rd', decision: deny}]"),
        ("p/own", "scope: {block_patterns: ['ow?/rd/*.txt']}"),
        ("größe", "scope: {block_patterns: ['GRÖSSE/rd', 'GRÖßE/RD']}"),
    ];
    for (service, setting) in rows {
        let world = World::new();
        let at = |name: &str| world.work().join(service).join(name).to_str().unwrap().to_owned();
        for (name, text) in [("o.txt", "one\n"), ("x/rd/r.txt", "one\n"), ("rd/r.txt", "one\n")] {
            world.file(&at(name), text);
        }
        for args in [&["init", "-q", "-b", "main"][..], &["add", "."], &["commit", "-q", "-m", "start"]] {
            assert_eq!(git(&world, args).code, 0);
        }
        world.file(&at("o.txt"), "two\n").file(&at("x/rd/r.txt"), "two\n");
        let config = world.beside("operator.yaml", &format!("{setting}\n"));
        let calls = batch(&[
            ("git_status", json!({})),
            ("git_add", json!({"files": ["."]})),
            ("git_diff", json!({"staged": true})),
            ("git_commit", json!({"message": "fix: the other files"})),
        ]);
        let place = if service.is_empty() { Vec::new() } else { vec!["--service", service] };
        let ran = world.feed(&[&["--config", &config][..], &place, &["call", "--batch"]].concat(), calls);
        let answers = ran.lines();
        assert!(answers.iter().all(|answer| answer["status"] == "success"), "{setting}: {answers:?}");
        for answer in &answers {
            let said = answer["data"].to_string().replace("x/rd/r.txt", "");
            assert!(!said.contains("rd/r.txt"), "{setting}: {answer}");
        }
        let changed =
            git(&world, &["-c", "core.quotePath=false", "show", "--name-status", "--format=", "HEAD"]);
        let prefix = if service.is_empty() { String::new() } else { format!("{service}/") };
        assert_eq!(changed.text(), format!("M\t{prefix}o.txt\nM\t{prefix}x/rd/r.txt\n"), "{setting}");
    }
}

/// git would replace what it can, find the rest read-only or hidden, and say that all went well.
#[test]
fn a_branch_with_other_hidden_files_is_not_checked_out_in_part() {
    if !has("git", "branches with other hidden files") {
        return;
    }
    for (service, setting) in [
        ("", "scope: {block_patterns: ['{rd,x}']}"),
        ("own", "scope: {block_patterns: ['own/rd']}"),
        ("p/own", "rules: [{tool: write_file, path: '**/own/rd', decision: deny}]"),
    ] {
        let world = World::new();
        let at = |name: &str| world.work().join(service).join(name).to_str().unwrap().to_owned();
        world.file(&at("rd/r.txt"), "one\n").file(&at("o.txt"), "one\n");
        let start = [&["init", "-q", "-b", "main"][..], &["add", "."], &["commit", "-q", "-m", "start"]];
        let branch = [
            &["checkout", "-q", "-b", "other"][..],
            &["commit", "-qam", "other"],
            &["checkout", "-q", "main"],
        ];
        for (n, args) in start.into_iter().chain(branch).enumerate() {
            if n == 4 {
                world.file(&at("rd/r.txt"), "two\n").file(&at("o.txt"), "two\n");
            }
            assert_eq!(git(&world, args).code, 0, "{args:?}");
        }
        let config = world.beside("operator.yaml", &format!("{setting}\n"));
        let place = if service.is_empty() { Vec::new() } else { vec!["--service", service] };
        let call = ["call", "git_checkout", r#"{"branch":"other"}"#];
        let ran = world.run(&[&["--config", &config][..], &place, &call].concat());
        assert_eq!((ran.code, ran.error_code().as_str()), (1, "CommandFailed"), "{setting}: {ran:?}");
        assert_eq!(git(&world, &["status", "--short", "--branch"]).text(), "## main\n", "{setting}");
    }
}

/// What a program does to a repository must not run when a person uses git there afterwards.
const PLANT: &str = r#"
trap="$PWD/trap.sh"
mkdir -p .git/hooks; cp trap.sh .git/hooks/pre-commit; cp trap.sh .git/hooks/post-commit; ln -s "$trap" .git/hooks/commit-msg
git config core.fsmonitor "$trap"; git config core.pager "$trap"; git config alias.status "!$trap"
printf '[core]\n\tfsmonitor = %s\n' "$trap" >> .git/config
printf '[core]\n\tfsmonitor = %s\n' "$trap" > .git/config.worktree; echo "ref: x" > .git/commondir
mv .git moved; mkdir -p .git/hooks; cp trap.sh .git/hooks/pre-commit
ln -s moved .git; rm -rf .git; rm .git/HEAD; cp -r .git copy
sed -i "s,bare,hooksPath = $PWD," .git/config; chmod 777 .git/config; mount --bind copy .git
cp -r .git other; printf '[core]\n\tfsmonitor = %s\n' "$trap" >> other/config; mv other .git; cp -r other/. .git/
echo '*.txt filter=x' > .gitattributes; echo '*.txt filter=x' > .git/info/attributes
rm -rf moved copy other; echo done
"#;

/// A line may enter a repository that lies deeper. It is shown without what would run, like the one at the top; one in
/// an installed package was not looked at, and git refuses it.
#[test]
fn a_repository_that_a_line_enters_runs_nothing() {
    if !has("git", "nested repositories") {
        return;
    }
    let world = repository();
    let places = ["nested", "pkg/node_modules/x"];
    for place in places {
        world.file(&format!("{place}/f"), "one\n");
        git(&world, &["init", "-q", place]);
        git(&world, &["-C", place, "add", "f"]);
        world.file(&format!("{place}/f"), "two\n").file(&format!("{place}/.gitattributes"), "f filter=t\n");
        let trap = trap(&world);
        for key in ["core.fsmonitor", "core.pager", "diff.external", "filter.t.clean", "core.sshCommand"] {
            git(&world, &["-C", place, "config", key, &trap]);
        }
    }
    git(&world, &["-C", "nested", "status"]);
    assert!(!traced(&world).is_empty(), "without protection the trap is sprung");
    fs::remove_file(world.work().join("trace")).unwrap();
    let commands =
        ["git -C nested status", "cd nested && git status", "git -C nested diff", "cd nested && git diff"];
    let deeper = ["git -C pkg/node_modules/x status", "cd pkg/node_modules/x && git status"];
    for (command, is_shown) in
        commands.map(|line| (line, true)).into_iter().chain(deeper.map(|line| (line, false)))
    {
        let ran = world.call("exec_shell", &json!({"command": command}));
        assert_eq!(ran.json()["data"]["exit_code"] == 0, is_shown, "{command}: {ran:?}");
    }
    assert_eq!(traced(&world), "", "something of a repository ran");
}

#[test]
fn programs_cannot_plant_anything_that_git_would_run() {
    if !has("git", "planting in a repository") {
        return;
    }
    let world = repository();
    trap(&world);
    let config = world.text(".git/config");
    let ran = world.run(&["run", "--", "sh", "-c", PLANT]);
    assert!(ran.text().ends_with("done\n"), "{ran:?}");
    fs::remove_file(world.work().join("trace")).unwrap_or_default();
    assert_eq!(world.text(".git/config"), config, "{ran:?}");
    for args in [&["status"][..], &["add", "a.txt"], &["commit", "-m", "by a person"], &["--no-pager", "log"]]
    {
        let used = git(&world, args);
        assert_eq!(used.code, 0, "the repository is whole: {used:?}");
    }
    assert_eq!(traced(&world), "", "what was planted ran on the host");
}

#[test]
fn a_repository_planted_beside_the_real_one_runs_nothing() {
    if !has("git", "a planted repository") {
        return;
    }
    let world = repository();
    let trap = trap(&world);
    let plant = "git init -q --bare planted; git -C planted config core.fsmonitor \"$PWD/trap.sh\"
                 printf '[core]\\n\\tfsmonitor = %s\\n\\tworktree = ..\\n\\tbare = false\\n' \"$PWD/trap.sh\" > planted/config
                 cd planted && git status; true";
    world.run(&["run", "--", "sh", "-c", plant]);
    let _ = fs::remove_file(world.work().join("trace"));
    for line in ["cd planted && git status", "cd planted && git diff", "git status"] {
        let ran = world.call("exec_shell", &json!({"command": line}));
        assert_eq!(traced(&world), "", "{trap} ran: {ran:?}");
    }
    let ran = world.call("git_status", &json!({}));
    assert_eq!((ran.code, traced(&world).as_str()), (0, ""), "{ran:?}");
}

/// A program left it, or a person. Whoever opens one waits for the other end, and git opens this one on its own.
#[test]
fn a_pipe_in_the_place_of_a_file_keeps_nobody_waiting() {
    if !has("mkfifo", "pipes in the place of files") {
        return;
    }
    let world = repository();
    world.file("deep/file", "");
    for name in [".gitignore", "package.json", "deep/.gitattributes"] {
        let made = on_host(&world, &["mkfifo", name]);
        assert_eq!(made.code, 0, "{made:?}");
    }
    let seen = world.call("git_status", &json!({}));
    assert!(seen.code == 0 && seen.text().contains("a.txt"), "{seen:?}");
    let read = world.run(&["run", "--", "cat", ".gitignore", "package.json", "deep/.gitattributes"]);
    assert_eq!((read.code, read.text().as_str()), (0, ""), "{read:?}");
}

/// Names that other programs of the person obey, in the workspace and deeper.
const OBEYED: [&str; 16] = [
    ".mcp.json",
    ".envrc",
    ".claude",
    ".cursor",
    ".codex",
    ".vscode",
    ".idea",
    ".husky",
    ".git",
    ".githooks",
    ".devcontainer",
    ".gitmodules",
    ".npmrc",
    ".cargo/config.toml",
    "sub/.git",
    "sub/.claude",
];

#[test]
fn programs_cannot_plant_an_agents_or_editors_configuration() {
    let world = World::new();
    world.file("sub/a.txt", "one\n");
    let script = "for name in \"$@\"; do
                      mkdir -p $(dirname $name) made/hooks; echo PLANTED > made/planted; echo PLANTED > made/hooks/pre-commit
                      mv $name gone; rm -rf $name; mv made $name || ln -s /tmp $name || echo PLANTED > $name; done; echo done";
    let ran = world.run(&[&["run", "--", "sh", "-c", script, "sh"], &OBEYED[..]].concat());
    assert!(ran.text().ends_with("done\n"), "{ran:?}");
    let left: Vec<&str> =
        OBEYED.into_iter().filter(|name| world.work().join(name).symlink_metadata().is_ok()).collect();
    assert_eq!(left, [""; 0], "{ran:?}");
    assert_eq!(world.text("sub/a.txt"), "one\n");
    assert!(!world.work().join(".vambrace/planted").exists());
}

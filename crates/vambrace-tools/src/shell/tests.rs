//! What the tools plan from arguments, before anything looks at the disk.

use std::time::Duration;

use serde_json::{Map, Value, json};
use vambrace_policy::command::CommandPolicy;
use vambrace_policy::{Action, DeclaredKind, Runs};
use vambrace_types::{
    Bearings, ByteLimit, CallId, Caller, Chain, Door, Role, Timestamp, ToolError, ToolName,
};

use crate::declared::DeclaredTool;
use crate::shell::{
    BashCommandTool, ExecShellTool, InstallDependenciesTool, RunLintTool, RunTestTool, RunTool, SpawnTool,
};
use crate::{CallContext, Declared, DeclaredProgram, Language, Limits, Tool, Toolbox};

fn plan<T: Tool>(tool: &T, arguments: Value) -> Result<T::Action, ToolError> {
    let bearings = Bearings::new(&["/w"], "svc", &["shared/"]);
    let limit = ByteLimit::new(1024);
    let second = Duration::from_secs(1);
    let limits = Limits { time: second, read: limit, read_most: limit, reply: limit, pattern_time: second };
    let (command, toolbox) = (CommandPolicy::default(), Toolbox::default());
    let context = CallContext {
        bearings: &bearings,
        limits,
        command: &command,
        toolbox: &toolbox,
        dry_run: false,
        caller: &Caller::local(Role::Dev, Door::CommandLine),
        chain: &Chain::default(),
        call_id: &CallId::new(Timestamp::from_millis(0), [0; 10]),
    };
    tool.plan(serde_json::from_value(arguments).unwrap(), &context)
}

/// What would be started, or the code of the refusal.
#[track_caller]
fn check<T: Tool>(tool: &T, arguments: Value, expected: Result<&[&[&str]], &str>)
where
    T::Action: Runs,
{
    let shown = arguments.to_string();
    let found = plan(tool, arguments).map(|action| action.vectors()).map_err(|error| error.code.as_str());
    let expected = expected.map(|vectors| {
        vectors
            .iter()
            .map(|words| words.iter().map(|word| (*word).to_owned()).collect())
            .collect::<Vec<Vec<_>>>()
    });
    assert_eq!(found, expected, "{shown}");
}

#[test]
fn lines_become_vectors() {
    let line = |text: &str| json!({"command": text, "reason": "to see"});
    check(&BashCommandTool, line("ls -la 'a b' | wc -l"), Ok(&[&["ls", "-la", "a b"], &["wc", "-l"]]));
    check(&BashCommandTool, line("echo $HOME"), Err("CommandSyntax"));
    check(&BashCommandTool, line("ls & rm x"), Err("CommandSyntax"));
    check(&BashCommandTool, line(""), Err("CommandSyntax"));
    let action = plan(&BashCommandTool, line("ls")).unwrap();
    assert_eq!((action.purpose.as_str(), action.time.as_secs()), ("to see", 30));
    assert_eq!(action.folder.components(), ["svc"]);
}

#[test]
fn time_is_the_callers_within_limits() {
    check(&ExecShellTool, json!({"command": "ls", "timeout": 300}), Ok(&[&["ls"]]));
    check(&ExecShellTool, json!({"command": "ls", "timeout": 301}), Err("ValidationError"));
    check(&SpawnTool, json!({"command": "ls", "timeout": 0}), Err("ValidationError"));
    assert_eq!(plan(&ExecShellTool, json!({"command": "ls"})).unwrap().time.as_secs(), 30);
    assert_eq!(plan(&SpawnTool, json!({"command": "ls"})).unwrap().time.as_secs(), 60);
    assert_eq!(plan(&RunTool, json!({"program": "ls"})).unwrap().time, None);
}

#[test]
fn a_vector_is_not_read_again() {
    let spawn = |args: Value| json!({"command": "ls", "args": args});
    check(&SpawnTool, spawn(json!(["*", "a;b", "$(x)", ""])), Ok(&[&["ls", "*", "a;b", "$(x)", ""]]));
    check(&SpawnTool, spawn(json!(["a\u{0}b"])), Err("ValidationError"));
    check(&SpawnTool, json!({"command": "ls -l"}), Err("ValidationError"));
    assert!(!plan(&SpawnTool, spawn(json!(["*"]))).unwrap().plan.has_globs());
    check(&RunTool, json!({"program": "make", "arguments": ["all", ">x"]}), Ok(&[&["make", "all", ">x"]]));
}

/// The path that policy will judge, or the code of the refusal.
#[track_caller]
fn check_target(target: &str, expected: Result<Option<&str>, &str>) {
    for found in
        [plan(&RunTestTool, json!({"target": target})), plan(&RunLintTool, json!({"target": target}))]
    {
        let found = found.map(|action| action.target.map(|path| path.components().join("/")));
        let found = found.map_err(|error| error.code.as_str());
        assert_eq!(found, expected.map(|path| path.map(str::to_owned)), "{target}");
    }
}

#[test]
fn a_target_that_is_written_as_a_path_is_judged_as_one() {
    check_target("adds", Ok(None));
    check_target("", Ok(None));
    check_target("cart::adds", Ok(None));
    check_target("tests/a.py::b", Ok(Some("svc/tests/a.py")));
    check_target("../other/tests", Ok(Some("other/tests")));
    check_target("/w/svc/a", Ok(Some("svc/a")));
    check_target("../../x", Err("PathOutsideProject"));
    check_target("..", Ok(Some("")));
    check_target("/etc/passwd", Err("PathOutsideProject"));
    check_target("--option", Err("ValidationError"));
}

#[test]
fn a_strategy_is_read_before_anything_runs() {
    let wrong = plan(&RunTestTool, json!({"truncation_strategy": "MIDDLE:3"})).err().unwrap();
    assert!(wrong.suggestion.contains("HEADTAIL:n"), "{}", wrong.suggestion);
}

#[test]
fn installs_are_of_known_managers() {
    let tool = InstallDependenciesTool::default();
    check(&tool, json!({"manager": "npm"}), Ok(&[&["npm", "ci"]]));
    check(&tool, json!({"manager": "pip"}), Err("PolicyViolation"));
    assert_eq!(plan(&tool, json!({"manager": "npm"})).unwrap().time.as_secs(), 300);
}

fn declared(what: DeclaredProgram) -> DeclaredTool {
    let Value::Object(schema) = json!({"type": "object", "properties": {"n": {"type": "integer"}}}) else {
        panic!()
    };
    DeclaredTool::new(&Declared {
        name: "greet".to_owned(),
        description: "Greets.".to_owned(),
        schema,
        what,
        variables: Vec::new(),
        time: Duration::from_secs(9),
        memory: None,
    })
    .unwrap()
}

#[test]
fn declared_tools_get_their_arguments_as_json() {
    let command = DeclaredProgram::Command { program: "greet".to_owned(), arguments: vec!["-v".to_owned()] };
    let tool = declared(command);
    assert_eq!(
        (tool.about().name, tool.own_schema().map(|schema| schema.len())),
        (ToolName::of("greet"), Some(2))
    );
    check(&tool, json!({"n": 1}), Ok(&[&["greet", "-v"]]));
    check(&tool, json!({"n": "one"}), Err("ValidationError"));
    let action = plan(&tool, json!({"n": 1})).unwrap();
    assert_eq!((action.input.as_str(), action.kind), ("{\"n\":1}", DeclaredKind::Command));
    let tool = declared(DeclaredProgram::Inline { language: Language::Node, code: "1 + 1".to_owned() });
    check(&tool, json!({}), Ok(&[&["node", "-e", "1 + 1"]]));
    let action = plan(&tool, Value::Object(Map::new())).unwrap();
    assert_eq!((action.kind, action.time.as_secs()), (DeclaredKind::Inline, 9));
}

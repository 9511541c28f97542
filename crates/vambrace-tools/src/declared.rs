//! Tools that the operator declared (specification 000) and that start a program: a command of the operator's, or a
//! script in a language of ours. Arguments go in as JSON on stdin; what the program writes is the result.

mod interpreter;
mod schema;

pub(crate) use schema::ArgumentSchema;

use std::time::Duration;

use serde_json::{Map, Value};
use vambrace_json::Limits;
use vambrace_policy::{DeclaredKind, Permit, RunDeclared};
use vambrace_types::{ByteLimit, ErrorCode, RawOutput, ToolError, ToolName, Tree};

use crate::shell::Outcome;
use crate::{About, CallContext, Declared, DeclaredProgram, Hands, Hints, Look, Tool};
use interpreter::Interpreter;

pub(crate) struct DeclaredTool {
    about: About,
    declared: Declared,
    schema: ArgumentSchema,
}

/// Whatever the operator's program does; nobody has told us.
const UNKNOWN: Hints = Hints { read_only: false, destructive: true, idempotent: false, open_world: false };

/// Scripts get little unless the operator gives them more, and never more than this (specification 000's data model).
const INLINE_MEMORY: ByteLimit = ByteLimit::new(256 << 20);
const INLINE_MEMORY_MOST: ByteLimit = ByteLimit::new(4096 << 20);
const INLINE_TIME_MOST: Duration = Duration::from_secs(300);

/// How long a declared tool may run and how much memory it gets; without an answer the operator's limit for all counts.
fn limits(declared: &Declared) -> (Duration, Option<ByteLimit>) {
    match declared.what {
        DeclaredProgram::Command { .. } => (declared.time, declared.memory),
        DeclaredProgram::Inline { .. } => {
            let memory = declared.memory.unwrap_or(INLINE_MEMORY).bytes().min(INLINE_MEMORY_MOST.bytes());
            (declared.time.min(INLINE_TIME_MOST), Some(ByteLimit::new(memory)))
        }
    }
}

impl DeclaredTool {
    /// None where the name is no name; the configuration refuses those.
    pub(crate) fn new(declared: &Declared) -> Option<DeclaredTool> {
        let about =
            About::configured(ToolName::parse(&declared.name)?, declared.description.clone(), UNKNOWN);
        let schema = ArgumentSchema::compile(&declared.schema);
        Some(DeclaredTool { about, declared: declared.clone(), schema })
    }
}

impl Tool for DeclaredTool {
    type Args = Map<String, Value>;
    type Action = RunDeclared;

    fn about(&self) -> About {
        self.about.clone()
    }

    fn own_schema(&self) -> Option<Map<String, Value>> {
        Some(self.schema.shown())
    }

    fn plan(&self, args: Map<String, Value>, context: &CallContext<'_>) -> Result<RunDeclared, ToolError> {
        let args = Value::Object(args);
        self.schema.check(self.about.name.as_str(), &args)?;
        let (kind, program, arguments) = match &self.declared.what {
            DeclaredProgram::Command { program, arguments } => {
                (DeclaredKind::Command, program.clone(), arguments.clone())
            }
            DeclaredProgram::Inline { language, code } => {
                let interpreter = Interpreter::of(*language);
                (DeclaredKind::Inline, interpreter.name().to_owned(), interpreter.arguments(code)?)
            }
        };
        let (time, memory) = limits(&self.declared);
        Ok(RunDeclared {
            kind,
            program,
            arguments,
            input: args.to_string(),
            variables: self.declared.variables.clone(),
            folder: context.service()?,
            time,
            memory,
        })
    }

    fn settle(&self, action: &RunDeclared, look: &Look<'_>) -> Result<Option<RunDeclared>, ToolError> {
        let DeclaredProgram::Inline { language, .. } = &self.declared.what else { return Ok(None) };
        let program = Interpreter::of(*language).found(look.programs())?;
        Ok((program != action.program).then(|| RunDeclared { program: program.to_owned(), ..action.clone() }))
    }

    fn preview(&self, _permit: &Permit<RunDeclared>, _look: &Look<'_>) -> Result<RawOutput, ToolError> {
        Ok(RawOutput::new(Tree::map([("would", Tree::text(self.about.name.as_str()))])))
    }

    async fn run(&self, permit: Permit<RunDeclared>, hands: &Hands<'_>) -> Result<RawOutput, ToolError> {
        let finished = hands.run(permit, None).await?;
        result(self.about.name.as_str(), Outcome::of(&finished, hands))
    }
}

fn result(tool: &str, outcome: Outcome) -> Result<RawOutput, ToolError> {
    if outcome.timed_out {
        let message = format!("`{tool}` ran longer than it may and was ended.");
        return Err(ToolError::new(ErrorCode::Timeout, message)
            .suggestion("Ask for less at once, or ask the operator for a longer `timeout` of this tool.")
            .details(Tree::map(outcome.entries())));
    }
    if outcome.exit_code != 0 {
        let said = outcome.stderr.trim();
        let said = if said.is_empty() { String::new() } else { format!(" It wrote: {said}") };
        let message = format!("`{tool}` ended with exit code {}.{said}", outcome.exit_code);
        return Err(ToolError::new(ErrorCode::CommandFailed, message)
            .suggestion("Read what the program wrote and correct the arguments, or tell the operator.")
            .details(Tree::map(outcome.entries())));
    }
    let json = vambrace_json::read(outcome.stdout.as_bytes(), Limits::document(outcome.stdout.len())).ok();
    let json = json.filter(|value| value.is_object() || value.is_array()).map(tree_of);
    let mut entries: Vec<_> =
        outcome.entries().into_iter().map(|(name, value)| renamed(name, value)).collect();
    if let Some(json) = json {
        entries.push(("json", json));
    }
    Ok(RawOutput::new(Tree::map(entries)))
}

/// What a declared tool writes is its result and not a stream.
fn renamed(name: &'static str, value: Tree) -> (&'static str, Tree) {
    if name == "stdout" { ("output", value) } else { (name, value) }
}

pub(crate) fn tree_of(value: Value) -> Tree {
    match value {
        Value::Null => Tree::Null,
        Value::Bool(value) => Tree::Bool(value),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => Tree::Int(whole),
            (None, Some(real)) => Tree::Float(real),
            (None, None) => Tree::Text(number.to_string()),
        },
        Value::String(text) => Tree::Text(text),
        Value::Array(items) => Tree::List(items.into_iter().map(tree_of).collect()),
        Value::Object(entries) => {
            Tree::Map(entries.into_iter().map(|(key, value)| (key.into(), tree_of(value))).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(exit_code: i32, stdout: &str, stderr: &str, timed_out: bool) -> Outcome {
        Outcome {
            exit_code,
            stdout: stdout.to_owned(),
            stderr: stderr.to_owned(),
            duration_ms: 1,
            timed_out,
            time_limit: None,
            truncated: false,
        }
    }

    #[track_caller]
    fn check_limits(what: DeclaredProgram, asked: (u64, Option<u64>), expected: (u64, Option<u64>)) {
        let megabytes = |n: u64| ByteLimit::new(n << 20);
        let declared = Declared {
            name: "greet".to_owned(),
            description: String::new(),
            schema: Map::new(),
            what,
            variables: Vec::new(),
            time: Duration::from_secs(asked.0),
            memory: asked.1.map(megabytes),
        };
        let (time, memory) = limits(&declared);
        assert_eq!((time.as_secs(), memory.map(|limit| limit.bytes() >> 20)), expected, "{asked:?}");
    }

    #[test]
    fn scripts_stay_within_their_limits() {
        let inline = || DeclaredProgram::Inline { language: crate::Language::Bash, code: String::new() };
        let command = || DeclaredProgram::Command { program: "x".to_owned(), arguments: Vec::new() };
        check_limits(inline(), (30, None), (30, Some(256)));
        check_limits(inline(), (301, Some(5000)), (300, Some(4096)));
        check_limits(inline(), (10, Some(64)), (10, Some(64)));
        check_limits(command(), (600, None), (600, None));
    }

    #[track_caller]
    fn check_error(outcome: Outcome, code: ErrorCode, part: &str) {
        let error = result("greet", outcome).err().unwrap();
        assert_eq!(error.code, code);
        assert!(error.message.contains(part), "{}", error.message);
        assert!(error.details.is_some());
    }

    #[test]
    fn a_program_that_fails_is_an_error_with_its_words() {
        check_error(
            outcome(3, "", "no such city\n", false),
            ErrorCode::CommandFailed,
            "exit code 3. It wrote: no such city",
        );
        check_error(outcome(1, "x", "", false), ErrorCode::CommandFailed, "exit code 1.");
        check_error(outcome(143, "half", "", true), ErrorCode::Timeout, "longer than it may");
    }

    #[track_caller]
    fn check(stdout: &str, json: Option<Tree>) {
        let tree = result("greet", outcome(0, stdout, "", false))
            .unwrap_or_else(|_| panic!())
            .into_unredacted_tree();
        assert_eq!(tree.get("output"), Some(&Tree::text(stdout)), "{stdout}");
        assert_eq!(tree.get("json"), json.as_ref(), "{stdout}");
        assert_eq!(tree.get("stdout"), None);
    }

    #[test]
    fn what_it_writes_is_the_result() {
        check("hello\n", None);
        check("", None);
        check("5", None);
        check(
            "{\"a\": [1, 2.5, null]}\n",
            Some(Tree::map([("a", Tree::List(vec![Tree::Int(1), Tree::Float(2.5), Tree::Null]))])),
        );
    }
}

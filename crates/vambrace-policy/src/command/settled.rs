//! From what was parsed to what is started: globs are gone, and `cd` and the harmless forms of a
//! shell's own commands are told apart.

use super::plan::{Command, CommandPlan, Join, Redirect, Simple, Step, Target, Word};
use super::program::is_builtin;

impl CommandPlan {
    /// A glob that is left is written as it stands, which matches nothing but itself.
    pub fn settled(&self) -> CommandPlan<Command> {
        self.map(|simple| Ok::<_, std::convert::Infallible>(settled(simple)))
            .unwrap_or_else(|never| match never {})
    }
}

impl CommandPlan<Command> {
    pub fn program(program: &str, arguments: Vec<String>) -> CommandPlan<Command> {
        CommandPlan { steps: vec![Step::program(Join::First, program, arguments)] }
    }

    /// Every program that is named.
    pub fn programs(&self) -> impl Iterator<Item = &Simple<String>> {
        self.commands().filter_map(|command| match command {
            Command::Enter(_) => None,
            Command::Run(run) => Some(run),
        })
    }

    /// For the record: what would be started, one vector after the other.
    pub fn vectors(&self) -> Vec<Vec<String>> {
        let vector = |command: &Command| match command {
            Command::Enter(folder) => vec!["cd".to_owned(), folder.clone()],
            Command::Run(run) => run.words.clone(),
        };
        self.commands().map(vector).collect()
    }

    /// Each program gets what `find` knows of its file.
    pub fn looked_up<F, E>(&self, find: impl Fn(&str) -> Result<F, E>) -> Result<CommandPlan<Command<F>>, E> {
        self.map(|command| {
            Ok(match command {
                Command::Enter(folder) => Command::Enter(folder.clone()),
                Command::Run(run) => Command::Run(Simple {
                    file: find(run.name())?,
                    words: run.words.clone(),
                    redirects: run.redirects.clone(),
                }),
            })
        })
    }
}

impl<C> CommandPlan<C> {
    pub fn commands(&self) -> impl Iterator<Item = &C> {
        self.steps.iter().flat_map(|step| step.pipeline.iter())
    }

    fn map<D, E>(&self, each: impl Fn(&C) -> Result<D, E>) -> Result<CommandPlan<D>, E> {
        let steps = self.steps.iter().map(|step| {
            let pipeline = step.pipeline.iter().map(&each).collect::<Result<_, E>>()?;
            Ok(Step { join: step.join, pipeline })
        });
        Ok(CommandPlan { steps: steps.collect::<Result<_, E>>()? })
    }
}

impl Step<Command> {
    pub fn program(join: Join, program: &str, arguments: Vec<String>) -> Step<Command> {
        let words = std::iter::once(program.to_owned()).chain(arguments).collect();
        Step { join, pipeline: vec![Command::Run(Simple { file: (), words, redirects: Vec::new() })] }
    }
}

impl<F> Simple<String, F> {
    pub fn name(&self) -> &str {
        self.words.first().map(String::as_str).unwrap_or_default()
    }

    pub fn arguments(&self) -> &[String] {
        self.words.get(1..).unwrap_or_default()
    }
}

fn settled(simple: &Simple) -> Command {
    let mut words: Vec<String> = simple.words.iter().map(Word::spelled).collect();
    let second = words.get(1).cloned().unwrap_or_default();
    let program = words.first().map(String::as_str).unwrap_or_default();
    if is_builtin(program) {
        return Command::Enter(second);
    }
    // Only a shell has `command` and `type`, and their harmless forms are another program's purpose.
    if program == "command" && second == "-v" {
        words.splice(..2, ["which".to_owned()]);
    } else if program == "type" {
        words.splice(..1, ["which".to_owned()]);
    } else if is_module_of_python(&words) {
        words.insert(1, "-I".to_owned());
    }
    let redirects = simple.redirects.iter().map(|redirect| Redirect {
        stream: redirect.stream,
        mode: redirect.mode,
        target: match &redirect.target {
            Target::Null => Target::Null,
            Target::Stream(stream) => Target::Stream(*stream),
            Target::File(word) => Target::File(word.spelled()),
        },
    });
    Command::Run(Simple { file: (), words, redirects: redirects.collect() })
}

/// The one module that the rules let an agent name.
/// THREAT: P06, `-m` looks into the folder first, where a planted `json.py` would run; `-I` leaves it out.
fn is_module_of_python(words: &[String]) -> bool {
    let words: Vec<&str> = words.iter().take(3).map(String::as_str).collect();
    let [program, "-m", "json.tool"] = words.as_slice() else { return false };
    matches!(program.rsplit('/').next(), Some("python" | "python3"))
}

//! What to write instead of a token that a line may not contain. Words for the agent only: nothing is
//! decided by them.

const PLAIN: &str = "Write plain commands: words, quotes, `|`, `&&`, `||`, `;`, globs, and redirects to \
                     files of the project.";
const VALUE: &str = "Write the value out (`pwd` and `printenv NAME` show it), or put it into single quotes \
                     if it is text for the program.";
const STATUS: &str =
    "Leave it out: the result says how the line ended; `COMMAND && echo yes || echo no` shows it in between.";
const INNER: &str =
    "Run the inner command in a call of its own, and write what it prints into the next line.";
const COMPARE: &str = "Write each output to a file (`sort a.txt > a.sorted`) and name the files.";
const SPELL: &str = "Write every word out (`a.ts b.ts`, `--include='*.ts' --include='*.tsx'`), or put the \
                     braces into single quotes if the program reads them itself.";
const ESCAPES: &str = "Let the program read the escape: `awk -F'\\t'`, `tr '\\t' ' '`, `printf 'a\\tb\\n'`; \
                       `cut` and `paste` take a tab by themselves.";
const HOME: &str = "Use a path beneath the workspace; list_files shows what is there.";
const COMPUTE: &str = "Compute with `expr 2 + 3`, or `echo '2 + 3' | bc`.";
const SEQUENCE: &str =
    "Write the commands one after another with `&&` or `;`; `cd` counts until the end of the line.";
const FOREGROUND: &str =
    "Leave the `&` out, because a call waits for what it starts; put it into quotes if it is text.";
const TEXT: &str = "Use write_file for the text and name the file, or `printf '%s\\n' one two | PROGRAM`.";
const VARIABLE: &str = "Leave the assignment out; most programs have an option for it (`--color=never`).";
const EACH: &str =
    "Give all names to one program (globs are expanded: `wc -l src/*.rs`), or make one call for each.";
const TIME: &str = "Leave `time` out; the result says how long the line took.";
const TEST: &str = "Use `[ … ]` or `test`.";
const NEGATION: &str = "Leave the `!` out and use `||`, or `test ! …`.";
const LINES: &str = "Join the commands with `&&` or `;`, or make one call for each.";
const QUOTE: &str = "Close the quote; a quote that is text stands between quotes of the other kind.";
const ERRORS: &str = "Write `2>&1 |`.";
const NULL: &str = "Redirect to a file of the project, to /dev/null, or with `2>&1`.";

pub(super) fn instead(token: &str, what: &str) -> &'static str {
    match (what, token) {
        ("a variable", "$?") => STATUS,
        ("a variable" | "a dollar sign that is not quoted", _) => VALUE,
        ("command substitution", _) => INNER,
        ("process substitution", _) => COMPARE,
        ("brace expansion", _) => SPELL,
        ("a string with escapes" | "a translated string", _) => ESCAPES,
        ("a home folder", _) => HOME,
        ("arithmetic", _) => COMPUTE,
        ("a subshell" | "a group of commands" | "a function", _) => SEQUENCE,
        ("a program in the background", _) => FOREGROUND,
        ("a here-document" | "a here-string", _) => TEXT,
        ("an assignment", _) => VARIABLE,
        ("a word of the shell's own grammar", "time") => TIME,
        ("a word of the shell's own grammar", "[[" | "]]") => TEST,
        ("a word of the shell's own grammar", "!") => NEGATION,
        ("a word of the shell's own grammar", _) => EACH,
        ("a line break", _) => LINES,
        ("a quote that does not end", _) => QUOTE,
        ("a pipe of errors", _) => ERRORS,
        (
            "a device as the target of a redirect"
            | "a redirect of another stream"
            | "a copy of another stream",
            _,
        ) => NULL,
        (_, _) => PLAIN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::{CommandPolicy, CommandRefusal};

    /// Through the parser, so that a kind that is renamed there is missed here.
    #[track_caller]
    fn check(line: &str, expected: &str) {
        let refusal = CommandPolicy::default().read(line).unwrap_err();
        assert!(matches!(refusal, CommandRefusal::Syntax { .. }), "{line}: {refusal:?}");
        assert_eq!(refusal.words().1, expected, "{line}");
    }

    #[test]
    fn each_kind_of_token_has_its_own_advice() {
        check("echo $?", STATUS);
        check("echo \"$HOME\"", VALUE);
        check("echo ${PWD}", VALUE);
        check("wc -l $(git ls-files)", INNER);
        check("echo `date`", INNER);
        check("diff <(sort a) <(sort b)", COMPARE);
        check("ls {a,b}.txt", SPELL);
        check("sort -t$'\\t' a", ESCAPES);
        check("ls ~/x", HOME);
        check("echo $((1+2))", COMPUTE);
        check("(cd src && ls)", SEQUENCE);
        check("{ ls; pwd; }", SEQUENCE);
        check("sleep 1 &", FOREGROUND);
        check("cat << END", TEXT);
        check("cat <<< x", TEXT);
        check("A=1 ls", VARIABLE);
        check("for f in a b; do ls; done", EACH);
        check("time ls", TIME);
        check("[[ -f x ]]", TEST);
        check("! ls", NEGATION);
        check("ls\npwd", LINES);
        check("echo 'a", QUOTE);
        check("ls |& cat", ERRORS);
        check("ls > /dev/tcp/a/1", NULL);
        check("ls 3> x", NULL);
        check("ls |", PLAIN);
    }
}

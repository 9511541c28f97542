//! Killed with SIGKILL a hundred times, in the middle of edits and of writing the record: a file is old or new, files
//! that belong together agree, lines are whole, the record verifies, and the next edit leaves no litter.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::ops::RangeInclusive;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::World;

/// Two tests of fifty rounds each: one through `call --batch`, one through `mcp`.
const ROUNDS: u64 = 50;
/// Calls that a round offers; it is killed before it has made them all.
const CALLS: u64 = 6;
/// After none, one, two or three answers.
const KILLED_WITHIN: u64 = 4;
/// About as long as one edit takes, so that kills fall into every part of one.
const LONGEST_DELAY: Duration = Duration::from_millis(8);

const TOGETHER: [&str; 3] = ["a.txt", "d/b.txt", "d/e/c.txt"];
const ALONE: &str = "alone.txt";

fn text(generation: u64) -> String {
    let filler = "filler that makes the file longer than one block of the disk\n".repeat(200);
    format!("generation {generation}\n{filler}generation {generation}\n")
}

/// The generation of a whole text; half of one, or a mixture, is nobody's.
#[track_caller]
fn generation(found: &str, possible: RangeInclusive<u64>) -> u64 {
    possible.clone().find(|generation| text(*generation) == *found).unwrap_or_else(|| {
        panic!("neither old nor new ({possible:?}): {} bytes, {:?}", found.len(), found.lines().next())
    })
}

/// Even generations go to one file alone, odd ones to three together. The three are named in either order, which must
/// not make two calls wait for each other.
fn edit(generation: u64) -> Value {
    let edits = json!([{"match_mode": "regex", "spec": "generation [0-9]+", "count": 2,
                        "content": format!("generation {generation}")}]);
    if generation.is_multiple_of(2) {
        return json!({"path": ALONE, "edits": edits});
    }
    let mut files: Vec<Value> = TOGETHER.iter().map(|path| json!({"path": path, "edits": edits})).collect();
    if generation % 4 == 1 {
        files.reverse();
    }
    json!({"files": files})
}

fn batch_line(tool: &str, arguments: &Value) -> String {
    format!("{}\n", json!({"tool": tool, "arguments": arguments}))
}

fn world() -> World {
    let world = World::new();
    for path in [&TOGETHER[..], &[ALONE]].concat() {
        world.file(path, text(0));
    }
    world
}

/// What the rounds of one test share.
struct Rounds {
    world: World,
    chance: u64,
    /// The newest generation that was ever offered.
    newest: u64,
    n_interrupted: usize,
}

impl Rounds {
    fn new() -> Rounds {
        Rounds { world: world(), chance: 0x2545_f491_4f6c_dd1d, newest: 0, n_interrupted: 0 }
    }

    fn offer(&mut self) -> impl Iterator<Item = u64> + use<> {
        let first = self.newest + 1;
        self.newest += CALLS;
        first..=self.newest
    }

    /// Waits for so many lines, then for a moment inside the next call, and kills.
    fn kill_after(&mut self, mut child: Child, n_lines: u64) -> Vec<String> {
        let output = BufReader::new(child.stdout.take().unwrap());
        let take = usize::try_from(n_lines).unwrap();
        let seen: Vec<String> = output.lines().map(Result::unwrap).take(take).collect();
        self.chance =
            self.chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        spin(LONGEST_DELAY.mul_f64((self.chance >> 40) as f64 / (1 << 24) as f64));
        child.kill().unwrap();
        child.wait().unwrap();
        seen
    }

    /// Looks at everything as the kill left it, then as the next start leaves it.
    fn check(&mut self, acknowledged: u64) {
        let possible = 0..=self.newest;
        let alone = generation(&self.world.text(ALONE), possible.clone());
        for path in TOGETHER {
            generation(&self.world.text(path), possible.clone());
        }
        self.newest += 2;
        let together_next = self.newest | 1;
        let next = [together_next, together_next + 1];
        self.newest = together_next + 1;
        let mut input: String =
            TOGETHER.iter().map(|path| batch_line("read_file", &json!({"path": path}))).collect();
        input.extend(next.map(|generation| batch_line("edit_file", &edit(generation))));
        let ran = self.world.feed(&["call", "--batch"], input);
        let answers = ran.lines();
        let errors: Vec<&Value> =
            answers.iter().map(|answer| &answer["error"]).filter(|error| !error.is_null()).collect();
        assert!(errors.is_empty(), "{errors:?}, {}", ran.stderr);
        let recovered: Vec<u64> = answers
            .iter()
            .take(TOGETHER.len())
            .map(|answer| generation(answer["data"]["content"].as_str().unwrap(), possible.clone()))
            .collect();
        assert!(
            recovered.iter().all(|generation| *generation == recovered[0]),
            "{recovered:?}, {}",
            ran.stderr
        );
        assert!(alone.max(recovered[0]) >= acknowledged, "an answered edit is gone");
        self.no_litter();
        self.whole_lines();
        self.verified();
    }

    fn no_litter(&self) {
        let mut found: Vec<String> = World::everything_in(&self.world.work())
            .into_iter()
            .map(|(path, _)| path.strip_prefix(self.world.work()).unwrap().to_str().unwrap().to_owned())
            .filter(|path| !path.starts_with(".vambrace/"))
            .collect();
        found.sort();
        let mut expected = [&TOGETHER[..], &[ALONE]].concat();
        expected.sort_unstable();
        assert_eq!(found, expected);
        let journal = self.world.state().join("journal");
        assert_eq!(fs::read_dir(journal).map(Iterator::count).unwrap_or(0), 0, "journals are left");
    }

    fn whole_lines(&self) {
        let mut files = self.world.segments();
        files.push(self.world.work().join(".vambrace/tool_log.jsonl"));
        for path in files {
            for line in fs::read_to_string(&path).unwrap().split_inclusive('\n') {
                assert!(line.ends_with('\n'), "{}: {line}", path.display());
                serde_json::from_str::<Value>(line).unwrap_or_else(|error| panic!("{error}: {line}"));
            }
        }
    }

    fn verified(&mut self) {
        let ran = self.world.run(&["audit", "verify"]);
        let report = ran.json();
        assert_eq!(
            (ran.code, &report["intact"], &report["broken"]),
            (0, &json!(true), &Value::Null),
            "{ran:?}"
        );
        let open = report["open_intents"].as_array().unwrap();
        assert!(open.iter().all(|intent| intent["tool"] == "edit_file"), "{ran:?}");
        self.n_interrupted = open.len();
    }
}

/// Keeps the processor busy: a moment that no event marks cannot be waited for otherwise.
fn spin(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        std::hint::spin_loop();
    }
}

fn spawn(world: &World, args: &[&str], input: &str) -> Child {
    let mut command = world.command(args);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    // Less than a pipe holds, and the pipe stays open: nothing ends the child but the kill.
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(input.as_bytes()).unwrap();
    child.stdin = Some(stdin);
    child
}

#[test]
fn a_batch_that_is_killed_leaves_old_or_new() {
    let mut rounds = Rounds::new();
    for round in 0..ROUNDS {
        let offered: Vec<u64> = rounds.offer().collect();
        let input: String =
            offered.iter().map(|generation| batch_line("edit_file", &edit(*generation))).collect();
        let child = spawn(&rounds.world, &["call", "--batch"], &input);
        let seen = rounds.kill_after(child, round % KILLED_WITHIN);
        assert!(seen.iter().all(|line| line.contains(r#""status":"success""#)), "{seen:?}");
        let acknowledged = seen.len().checked_sub(1).map_or(0, |last| offered[last]);
        rounds.check(acknowledged);
    }
    assert!(rounds.n_interrupted > 0, "no kill ever hit a call");
}

#[test]
fn a_server_that_is_killed_leaves_old_or_new() {
    let mut rounds = Rounds::new();
    for round in 0..ROUNDS {
        let mut input = format!("{}\n", crate::mcp_client::initialize());
        for generation in rounds.offer() {
            let params = json!({"name": "edit_file", "arguments": edit(generation)});
            let request =
                json!({"jsonrpc": "2.0", "id": generation, "method": "tools/call", "params": params});
            input.push_str(&format!("{request}\n"));
        }
        let child = spawn(&rounds.world, &["mcp", "--tool", "read,write"], &input);
        // The first line is the answer to the greeting; calls are made at the same time and end in any order.
        let seen = rounds.kill_after(child, round % KILLED_WITHIN);
        assert!(seen.iter().all(|line| !line.contains(r#""isError":true"#)), "{seen:?}");
        rounds.check(0);
    }
    assert!(rounds.n_interrupted > 0, "no kill ever hit a call");
}

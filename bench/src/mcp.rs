//! A client of the Model Context Protocol, just enough to time its servers.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::failure::Failure;
use crate::pipes::Pipes;

pub(crate) struct Server {
    pipes: Pipes,
    n_sent: u64,
}

impl Server {
    pub(crate) fn start(
        who: &'static str,
        command: &mut Command,
        complaints: &Path,
    ) -> Result<Server, Failure> {
        let mut server = Server { pipes: Pipes::start(who, command, complaints)?, n_sent: 0 };
        let hello = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "vambrace-bench", "version": env!("CARGO_PKG_VERSION")},
        });
        server.ask("initialize", &hello)?;
        server.pipes.send(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n")?;
        Ok(server)
    }

    pub(crate) fn process(&self) -> u32 {
        self.pipes.process()
    }

    /// Asks and waits. The answer is looked at after the clock has stopped.
    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> Result<(Duration, Value), Failure> {
        self.n_sent += 1;
        let id = self.n_sent;
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        let who = self.pipes.who;
        let (took, line) = self.pipes.exchange(format!("{request}\n").as_bytes())?;
        let (answered, result) = read_answer(who, line)?;
        if answered != id {
            return Err(strange(who, line));
        }
        Ok((took, result))
    }

    /// A tool call that must succeed.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Result<(Duration, Value), Failure> {
        let (took, result) = self.ask("tools/call", &json!({"name": tool, "arguments": arguments}))?;
        demand_success(self.pipes.who, tool, &result)?;
        Ok((took, result))
    }

    /// The same call many times, so many of them under way at once: how long all took, and the results in the
    /// order of their arrival. They are read after the clock has stopped.
    pub(crate) fn call_together(
        &mut self,
        tool: &str,
        arguments: &Value,
        n_calls: usize,
        n_at_once: usize,
    ) -> Result<(Duration, Vec<Value>), Failure> {
        let who = self.pipes.who;
        let first = self.n_sent + 1;
        let params = json!({"name": tool, "arguments": arguments});
        let start = Instant::now();
        let (mut n_started, mut lines) = (0, Vec::with_capacity(n_calls));
        while lines.len() < n_calls {
            while n_started < n_calls && n_started - lines.len() < n_at_once.max(1) {
                self.n_sent += 1;
                n_started += 1;
                let id = self.n_sent;
                let request = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
                self.pipes.send(format!("{request}\n").as_bytes())?;
            }
            lines.push(self.pipes.receive()?.to_vec());
        }
        let took = start.elapsed();
        let (mut open, mut results) = ((first..=self.n_sent).collect::<BTreeSet<u64>>(), Vec::new());
        for line in &lines {
            let (id, result) = read_answer(who, line)?;
            // Each answer once: who answers one call twice has left another out.
            if !open.remove(&id) {
                return Err(strange(who, line));
            }
            demand_success(who, tool, &result)?;
            results.push(result);
        }
        Ok((took, results))
    }

    /// How long the last answer was, in bytes on the wire.
    pub(crate) fn last_length(&self) -> usize {
        self.pipes.last_length()
    }
}

fn read_answer(who: &str, line: &[u8]) -> Result<(u64, Value), Failure> {
    let mut answer: Value = serde_json::from_slice(line).map_err(|_| strange(who, line))?;
    let id = answer.get("id").and_then(Value::as_u64);
    let result = answer.get_mut("result").map(Value::take);
    id.zip(result).ok_or_else(|| strange(who, line))
}

fn demand_success(who: &str, tool: &str, result: &Value) -> Result<(), Failure> {
    if result.get("isError") == Some(&Value::Bool(true)) {
        return Err(Failure::wrong(who, &format!("refused `{tool}`"), &result.to_string()));
    }
    Ok(())
}

fn strange(who: &str, line: &[u8]) -> Failure {
    Failure::wrong(who, "gave a strange answer", &String::from_utf8_lossy(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers `initialize`, then waits until `n` calls are there and answers them backwards.
    const BACKWARDS: &str = r#"
read hello; echo '{"id":1,"result":{}}'; read ready
while :; do
  read a || exit 0; read b || exit 0
  ida=${a#*\"id\":}; idb=${b#*\"id\":}
  echo "{\"id\":${idb%%,*},\"result\":{\"n\":1}}"
  echo "{\"id\":${SAME:-${ida%%,*}},\"result\":{\"n\":1${FAILS}}}"
done
"#;

    fn server(settings: &[(&str, &str)]) -> Server {
        let mut command = Command::new("sh");
        command.args(["-c", BACKWARDS]).envs(settings.iter().copied());
        Server::start("script", &mut command, Path::new("/dev/null")).unwrap()
    }

    #[test]
    fn calls_under_way_together_may_be_answered_in_any_order() {
        let (_, results) = server(&[]).call_together("t", &json!({}), 6, 2).unwrap();
        assert_eq!(results, vec![json!({"n": 1}); 6]);
    }

    #[test]
    fn an_answer_twice_is_none_for_another_and_a_refusal_is_no_result() {
        assert!(server(&[("SAME", "3")]).call_together("t", &json!({}), 2, 2).is_err());
        assert!(server(&[("FAILS", ",\"isError\":true")]).call_together("t", &json!({}), 2, 2).is_err());
    }
}

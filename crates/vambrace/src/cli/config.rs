//! `config`: init, check, schema, show.

use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use owo_colors::OwoColorize as _;
use serde_json::{Value, json};
use vambrace_config::resolve::Redacting;
use vambrace_config::{ProfileName, init_text, resolve, schema, show, user_folder};
use vambrace_json::Limits;

use super::Exit;
use super::options::{ConfigArgs, ConfigWhat, Global};
use super::serve::refuse_weak_secrets;
use super::start::{configuration, environment, state_folder, usage, workspace};
use crate::terminal;

pub(crate) fn run(global: &Global, args: ConfigArgs) -> Exit {
    let exit = match args.what {
        ConfigWhat::Init { file } => init(global, file),
        ConfigWhat::Check => check(global),
        ConfigWhat::Schema => {
            terminal::say(&format!("{:#}", schema()));
            Ok(Exit::Done)
        }
        ConfigWhat::Show => show_all(global),
    };
    exit.unwrap_or_else(|exit| exit)
}

fn init(global: &Global, file: Option<PathBuf>) -> Result<Exit, Exit> {
    let profile = match global.profile.as_deref() {
        None => ProfileName::Strict,
        Some(name) => {
            ProfileName::parse(name).ok_or_else(|| usage(&format!("no profile is called `{name}`")))?
        }
    };
    let file = match file {
        Some(file) => file,
        None => user_folder(&environment())
            .ok_or_else(|| usage("there is no home folder; name the file to write"))?
            .join("vambrace.yaml"),
    };
    let failed = |error: std::io::Error| {
        let hint =
            if error.kind() == std::io::ErrorKind::AlreadyExists { "; it was left as it is" } else { "" };
        terminal::fail(&format!("{}: {error}{hint}", file.display()));
        Exit::Failed
    };
    if let Some(folder) = file.parent().filter(|folder| *folder != Path::new("")) {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    // Never over an existing file, and for the owner's eyes: people put secrets into it.
    let mut options = std::fs::OpenOptions::new();
    let mut written = options.write(true).create_new(true).mode(0o600).open(&file).map_err(failed)?;
    written.write_all(init_text(profile).as_bytes()).map_err(failed)?;
    if global.json || !terminal::is_watched() {
        terminal::json(&json!({"wrote": file.display().to_string()}));
    } else {
        terminal::say(&format!("wrote {}", file.display()));
    }
    Ok(Exit::Done)
}

fn check(global: &Global) -> Result<Exit, Exit> {
    let loaded = configuration(global)?;
    resolve::check(&loaded, &environment()).map_err(|error| usage(&error.to_string()))?;
    refuse_weak_secrets(&loaded.config)?;
    let without_effect = resolve::without_effect(&loaded.config);
    if global.json || !terminal::is_watched() {
        let weaker = loaded.weaker.iter().map(|weaker| {
            json!({"key": weaker.key, "value": weaker.value, "strict": weaker.strict, "origin": weaker.origin.to_string()})
        });
        let files = loaded.files.iter().map(|file| file.display().to_string());
        terminal::json(&json!({
            "valid": true,
            "files": files.collect::<Vec<_>>(),
            "weaker": weaker.collect::<Vec<Value>>(),
            "without_effect": without_effect,
        }));
        return Ok(Exit::Done);
    }
    for file in &loaded.files {
        terminal::say(&format!("read {}", file.display()));
    }
    for weaker in &loaded.weaker {
        terminal::say(&format!(
            "{} {} is {} (strict: {}; set by {})",
            "weaker:".yellow(),
            weaker.key,
            weaker.value,
            weaker.strict,
            weaker.origin
        ));
    }
    for key in without_effect {
        terminal::say(&format!("{} {key} is set, but has no effect yet", "note:".yellow()));
    }
    terminal::say(&"valid".green().bold().to_string());
    Ok(Exit::Done)
}

fn show_all(global: &Global) -> Result<Exit, Exit> {
    let loaded = configuration(global)?;
    let mut shown = show(&loaded);
    // A variable's value may stand in the middle of an address or a template, where no type hides it.
    if let Ok((root, _)) = workspace(&loaded)
        && let Ok(state) = state_folder(global)
        && let Ok(Redacting { redactor, .. }) =
            Redacting::in_workspace(&loaded, &environment(), &root, &state, None)
    {
        for row in &mut shown {
            row.value = redactor.text(&row.value).value.into_string();
        }
    }
    if global.json || !terminal::is_watched() {
        let rows = shown.into_iter().map(|row| {
            let value = vambrace_json::read(row.value.as_bytes(), Limits::document(usize::MAX))
                .unwrap_or(Value::String(row.value));
            json!({"key": row.key, "value": value, "origin": row.origin.to_string()})
        });
        terminal::json(&Value::Array(rows.collect()));
        return Ok(Exit::Done);
    }
    for row in shown {
        let line = format!("{:<44} {:<40} {}", row.key, row.value, row.origin.to_string().dimmed());
        terminal::say(line.trim_end());
    }
    Ok(Exit::Done)
}

//! `cargo ckpt completions`: what a shell needs to complete commands and options.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use clap_complete::aot::{Shell, generate};

use crate::failure::{AboutFile, Failure, Outcome, says};
use crate::render;

/// Print completions for a shell, or install them
///
/// They complete `cargo-ckpt run`; in bash, zsh and fish `cargo ckpt run` as well, behind cargo's own. `--install` writes them
/// where the shell finds them, for bash and zsh with a line in ~/.bashrc or ~/.zshrc that loads them, and says so.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub struct Completions {
    /// The shell [default with `--install`: that of $SHELL]
    #[arg(value_enum, value_name = "SHELL", required_unless_present = "install")]
    shell: Option<Shell>,
    /// Write them where bash, zsh or fish finds them; again after an update of ckpt
    #[arg(long)]
    install: bool,
}

const EXAMPLE: &str = "\
Example:
  cargo ckpt completions --install
  cargo ckpt completions zsh > ~/.zfunc/_cargo-ckpt

Without `--install`, `cargo ckpt` in two words is completed if the script is loaded after cargo's own: \
`source FILE` in ~/.bashrc, or behind compinit in ~/.zshrc.

Exit codes: 0 done, 2 no such shell, 78 a file cannot be written.";

/// Hands `cargo ckpt ..` to the completions of `cargo-ckpt`, and the rest to those that cargo had.
const BASH: &str = r#"
if ! complete -p cargo &>/dev/null; then
    if declare -F _comp_load >/dev/null; then _comp_load cargo
    elif declare -F _completion_loader >/dev/null; then _completion_loader cargo
    fi &>/dev/null
fi
_cargo_ckpt_now=$(complete -p cargo 2>/dev/null | sed -n 's/.*-F \([^ ]*\).*/\1/p')
[[ $_cargo_ckpt_now == _cargo_ckpt_in_two_words ]] || _cargo_ckpt_former=$_cargo_ckpt_now
_cargo_ckpt_in_two_words() {
    if [[ ${COMP_WORDS[1]} == ckpt && $COMP_CWORD -gt 1 ]]; then
        COMP_WORDS=(cargo-ckpt "${COMP_WORDS[@]:2}")
        COMP_CWORD=$((COMP_CWORD - 1))
        _cargo_ckpt cargo-ckpt "$2" "${COMP_WORDS[COMP_CWORD - 1]}"
    else
        if [[ -n ${_cargo_ckpt_former:-} ]]; then
            "$_cargo_ckpt_former" "$@"
        fi
        if [[ $COMP_CWORD -eq 1 && ckpt == "$2"* && " ${COMPREPLY[*]} " != *" ckpt "* ]]; then
            COMPREPLY+=(ckpt)
        fi
    fi
}
complete -F _cargo_ckpt_in_two_words -o bashdefault -o default cargo
"#;

/// The same; `_comps` says what completes a command.
const ZSH: &str = r#"
if [ "$funcstack[1]" != "_cargo-ckpt" ]; then
    [[ ${_comps[cargo]:-} == _cargo_ckpt_in_two_words ]] || typeset -g _cargo_ckpt_former=${_comps[cargo]:-}
    _cargo_ckpt_in_two_words() {
        if [[ ${words[2]} == ckpt && $CURRENT -gt 2 ]]; then
            words=(cargo-ckpt "${(@)words[3,-1]}")
            (( CURRENT-- ))
            _cargo-ckpt "$@"
        elif [[ -n ${_cargo_ckpt_former:-} ]]; then
            ${=_cargo_ckpt_former} "$@"
        else
            _default
        fi
    }
    compdef _cargo_ckpt_in_two_words cargo
fi
"#;

/// fish keeps all completions that are registered for a command: this adds one to those of cargo.
const FISH: &str = r#"
function __cargo_ckpt_in_two_words
    set -l words (commandline -opc)
    set -e words[1..2]
    complete -C (string join -- ' ' cargo-ckpt $words (commandline -ct))
end
complete -c cargo -n 'test (count (commandline -opc)) -eq 1' -f -a ckpt -d 'checkpoint and restart'
complete -c cargo -n 'set -l words (commandline -opc); test (count $words) -ge 2; and test $words[2] = ckpt' -f -a '(__cargo_ckpt_in_two_words)'
"#;

impl Completions {
    /// Prints or installs.
    pub fn perform(&self) -> Outcome<u8> {
        let of_user = || {
            let path = std::env::var_os("SHELL")?;
            Shell::from_shell_path(PathBuf::from(path))
        };
        let shell = self.shell.or_else(of_user).ok_or_else(unknown_shell)?;
        if self.install {
            return install(shell);
        }
        render::print_as_it_is(&script(shell));
        Ok(0)
    }
}

fn unknown_shell() -> Failure {
    Failure::usage(says!("E3117: completions are installed for bash, zsh and fish"))
        .help("name one of them: `cargo ckpt completions bash --install`; for others, `cargo ckpt completions SHELL` prints a script")
}

/// What completes in a shell.
fn script(shell: Shell) -> String {
    // The generator for bash mistakes a dash in the name for the end of a word.
    let name = match shell {
        Shell::Bash => "cargo_ckpt",
        _ => "cargo-ckpt",
    };
    let mut command = super::line::whole_command().name(name).bin_name(name);
    let mut script = Vec::new();
    generate(shell, &mut command, name, &mut script);
    let mut script = String::from_utf8_lossy(&script).into_owned();
    match shell {
        Shell::Bash => {
            script = script.replace("-o default cargo_ckpt\n", "-o default cargo-ckpt\n") + BASH;
        }
        Shell::Zsh => script += ZSH,
        Shell::Fish => script += FISH,
        _ => {}
    }
    script
}

/// Ends the line that loads them.
const MARK: &str = "# completions of cargo ckpt";

/// Writes them, and has the shell load them.
fn install(shell: Shell) -> Outcome<u8> {
    let none = || io::Error::from(io::ErrorKind::NotFound);
    let home = std::env::home_dir()
        .ok_or_else(none)
        .about("cannot write in", "~".as_ref())?;
    let folder = |variable: &str, otherwise: &str| {
        let named = std::env::var_os(variable).filter(|path| !path.is_empty());
        named.map_or_else(|| home.join(otherwise), PathBuf::from)
    };
    let data = folder("XDG_DATA_HOME", ".local/share");
    let (path, settings) = match shell {
        Shell::Bash => (
            data.join("bash-completion/completions/cargo-ckpt"),
            Some((home.join(".bashrc"), "")),
        ),
        Shell::Zsh => (
            data.join("zsh/site-functions/_cargo-ckpt"),
            Some((
                folder("ZDOTDIR", "").join(".zshrc"),
                "(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }; ",
            )),
        ),
        // What is there is loaded whatever is completed first.
        Shell::Fish => (
            folder("XDG_CONFIG_HOME", ".config").join("fish/conf.d/cargo-ckpt.fish"),
            None,
        ),
        _ => return Err(unknown_shell()),
    };
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).about("cannot make", folder)?;
    }
    fs::write(&path, script(shell)).about("cannot write", &path)?;
    render::print(&format!("{}: written\n", path.display()));
    if let Some((settings, before)) = settings {
        let quoted =
            shlex::try_quote(&path.to_string_lossy()).map_or_else(|_| path.display().to_string(), Into::into);
        load(
            &settings,
            &format!("{before}[ -r {quoted} ] && source {quoted} {MARK}"),
        )?;
    }
    render::print("a new shell has them\n");
    Ok(0)
}

/// Has a line in a file of settings, once.
fn load(settings: &Path, line: &str) -> Outcome<()> {
    let text = match settings.exists() {
        true => fs::read_to_string(settings).about("cannot read", settings)?,
        false => String::new(),
    };
    if text.lines().any(|present| present == line) {
        return Ok(());
    }
    // Of an earlier version, or another folder.
    let kept = text.lines().filter(|present| !present.ends_with(MARK));
    let mut new: String = kept.map(|line| format!("{line}\n")).collect();
    new += line;
    new.push('\n');
    fs::write(settings, new).about("cannot write", settings)?;
    render::print(&format!("{}: a line that loads them\n", settings.display()));
    Ok(())
}

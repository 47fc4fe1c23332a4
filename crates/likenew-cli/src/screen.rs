//! Takes over the whole terminal for one view, and restores it on every exit: the end, a failure, a panic, a signal.

use std::io::{Stdout, stdout};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Context as _;
use likenew_core::units::Nanos;
use likenew_watch::draw::draw;
use likenew_watch::drives::Drives;
use likenew_watch::view::{Key, View};
use ratatui_core::terminal::Terminal;
use ratatui_crossterm::CrosstermBackend;
use ratatui_crossterm::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui_crossterm::crossterm::{cursor, execute, terminal};

use crate::wording;

static UP: AtomicBool = AtomicBool::new(false);
static HOOK: Once = Once::new();

/// The terminal, taken over until this is dropped.
pub(crate) struct Screen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
}

/// An event at the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InputEvent {
    /// No event in that time.
    Nothing,
    /// A key with a meaning.
    Pressed(Key),
    /// Ctrl-C, which is a key like any other while the terminal is taken over.
    Interrupted,
    /// An event that needs a redraw, such as a new size.
    Changed,
}

impl Screen {
    /// Takes the terminal over.
    pub(crate) fn open() -> anyhow::Result<Self> {
        HOOK.call_once(|| {
            let before = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |panic| {
                restore();
                before(panic);
            }));
        });
        // Set first, so that a partial setup is undone, too.
        UP.store(true, Ordering::SeqCst);
        let opened = terminal::enable_raw_mode()
            .and_then(|()| execute!(stdout(), terminal::EnterAlternateScreen, cursor::Hide))
            .and_then(|()| Terminal::new(CrosstermBackend::new(stdout())));
        match opened {
            Ok(terminal) => Ok(Self { terminal }),
            Err(error) => {
                restore();
                Err(error).context(crate::wording::WATCH_NO_SCREEN)
            }
        }
    }

    /// Draws a view.
    pub(crate) fn draw(&mut self, view: &View, drives: &Drives) -> anyhow::Result<()> {
        let drawn = self.terminal.draw(|frame| {
            let area = frame.area();
            draw(view, drives, area, frame.buffer_mut());
        });
        drawn.map(drop).context(wording::COULD_NOT_DRAW)
    }

    /// Waits for an event, at most `most`.
    pub(crate) fn wait(&self, most: Nanos) -> anyhow::Result<InputEvent> {
        let heard = event::poll(Duration::from_nanos(most.0))
            .and_then(|is_there| if is_there { event::read().map(Some) } else { Ok(None) });
        Ok(match heard.context(wording::COULD_NOT_READ_KEYS)? {
            Some(Event::Key(key)) if key.kind != KeyEventKind::Release => input_event(key),
            Some(_) => InputEvent::Changed,
            None => InputEvent::Nothing,
        })
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
    }
}

/// Restores the terminal, if it was taken over.
pub(crate) fn restore() {
    if UP.swap(false, Ordering::SeqCst) {
        // If this fails there is no other output to report to.
        let _ = execute!(stdout(), terminal::LeaveAlternateScreen, cursor::Show);
        let _ = terminal::disable_raw_mode();
    }
}

fn input_event(key: KeyEvent) -> InputEvent {
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    let key = match key.code {
        KeyCode::Char('c' | 'd') if control => return InputEvent::Interrupted,
        KeyCode::Char(_) if control || key.modifiers.contains(KeyModifiers::ALT) => {
            return InputEvent::Changed;
        }
        KeyCode::Char(character) => Key::Char(character),
        KeyCode::Enter => Key::Enter,
        KeyCode::Esc => Key::Escape,
        KeyCode::Backspace => Key::Backspace,
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        KeyCode::F(1) => Key::Char('?'),
        _ => return InputEvent::Changed,
    };
    InputEvent::Pressed(key)
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// Runs only in the terminal of the test below.
    #[test]
    #[ignore = "takes over the terminal it runs in, and panics"]
    fn panics_on_purpose() {
        let _screen = Screen::open().unwrap();
        panic!("on purpose");
    }

    #[test]
    fn a_panic_gives_the_terminal_back() {
        let folder = tempfile::tempdir().unwrap();
        let tmux = |arguments: &[&str]| {
            let mut command = Command::new("tmux");
            command.arg("-S").arg(folder.path().join("tmux")).args(arguments);
            command.output().ok().filter(|output| output.status.success())
        };
        let this = std::env::current_exe().unwrap();
        let panics =
            format!("{} --exact screen::tests::panics_on_purpose --ignored --nocapture", this.display());
        let script = format!("echo before; {panics} 2>&1; stty -a; cat");
        if tmux(&["-f", "/dev/null", "new-session", "-d", "-x", "200", "-y", "50", &script]).is_none() {
            eprintln!("tmux is not there, so this test shows nothing");
            return;
        }
        let screen = || {
            tmux(&["capture-pane", "-p"]).map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
        };
        let ended = (0..600).find_map(|_| {
            let _ = Command::new("sleep").arg("0.1").status();
            screen().filter(|screen| screen.contains("-echoprt"))
        });
        tmux(&["kill-server"]);
        let ended = ended.expect("the shell says how the terminal was left").replace('\n', " ");
        for words in ["before", "on purpose", " icanon", " echo ", " isig", " opost"] {
            assert!(ended.contains(words), "no {words} in {ended}");
        }
    }
}

use crate::error::Error;
use std::borrow::Cow;
use std::collections::HashMap;
use std::io::BufRead;

#[derive(Debug, Clone)]
pub struct Node {
    pub x: f64,
    pub y: f64,
    pub given: Option<f64>,
}

#[derive(Debug, Clone)]
pub struct Triangle {
    pub nodes: [usize; 3],
    pub material: u32,
}

#[derive(Debug, Clone)]
pub struct Material {
    pub name: String,
    pub conductivity: f64,
}

#[derive(Debug, Default)]
pub struct Mesh {
    pub nodes: Vec<Node>,
    pub triangles: Vec<Triangle>,
    pub materials: HashMap<u32, Material>,
}

#[derive(Clone, Copy, PartialEq)]
enum Section {
    None,
    Materials,
    Boundary,
    Nodes,
    Triangles,
}

/// A line without its comment; most have none and stay as they are.
fn uncommented(line: &str) -> Cow<'_, str> {
    match line.find('#') {
        Some(at) => Cow::Owned(line[..at].trim_end().to_string()),
        None => Cow::Borrowed(line.trim_end()),
    }
}

struct Fields<'l> {
    words: std::str::SplitWhitespace<'l>,
    line: usize,
}

impl<'l> Fields<'l> {
    fn word(&mut self, what: &str) -> Result<&'l str, Error> {
        self.words.next().ok_or_else(|| Error::Syntax { line: self.line, what: format!("no {what}") })
    }

    fn parse<T: std::str::FromStr>(&mut self, what: &str) -> Result<T, Error> {
        let word = self.word(what)?;
        word.parse().map_err(|_| Error::Syntax { line: self.line, what: format!("bad {what} '{word}'") })
    }
}

impl Mesh {
    pub fn read<R: BufRead>(reader: R) -> Result<Mesh, Error> {
        let mut mesh = Mesh::default();
        let mut values: HashMap<String, f64> = HashMap::new();
        let mut section = Section::None;

        for (number, line) in reader.lines().enumerate() {
            let line = line?;
            let text = uncommented(&line);
            if text.is_empty() {
                continue;
            }
            let mut fields = Fields { words: text.split_whitespace(), line: number + 1 };
            if text.starts_with('[') {
                section = match fields.word("section")? {
                    "[materials]" => Section::Materials,
                    "[boundary]" => Section::Boundary,
                    "[nodes]" => {
                        mesh.nodes.reserve(fields.parse("number of nodes")?);
                        Section::Nodes
                    }
                    "[triangles]" => {
                        mesh.triangles.reserve(fields.parse("number of triangles")?);
                        Section::Triangles
                    }
                    other => return Err(Error::Syntax { line: number + 1, what: format!("unknown section {other}") }),
                };
                continue;
            }
            match section {
                Section::None => return Err(Error::Syntax { line: number + 1, what: "before any section".into() }),
                Section::Materials => {
                    let id = fields.parse("material")?;
                    let name = fields.word("name")?.to_owned();
                    mesh.materials.insert(id, Material { name, conductivity: fields.parse("conductivity")? });
                }
                Section::Boundary => {
                    let name = fields.word("name")?;
                    values.insert(name.to_owned(), fields.parse("temperature")?);
                }
                Section::Nodes => {
                    let id: usize = fields.parse("node")?;
                    if id != mesh.nodes.len() + 1 {
                        return Err(Error::Syntax { line: number + 1, what: format!("node {id} out of order") });
                    }
                    let (x, y) = (fields.parse("x")?, fields.parse("y")?);
                    let given = fields.words.next().and_then(|kind| values.get(kind).copied());
                    mesh.nodes.push(Node { x, y, given });
                }
                Section::Triangles => {
                    let mut nodes = [0; 3];
                    for n in nodes.iter_mut() {
                        *n = fields.parse::<usize>("node")?.wrapping_sub(1);
                        if *n >= mesh.nodes.len() {
                            return Err(Error::Syntax { line: number + 1, what: "no such node".into() });
                        }
                    }
                    let material = fields.parse("material")?;
                    mesh.triangles.push(Triangle { nodes, material });
                }
            }
        }
        Ok(mesh)
    }

    pub fn conductivity(&self, t: &Triangle) -> f64 {
        self.materials.get(&t.material).map(|m| m.conductivity).unwrap_or(1.0)
    }

    /// Gradients of the three shape functions, and the area.
    pub fn gradients(&self, t: &Triangle) -> ([(f64, f64); 3], f64) {
        let [a, b, c] = t.nodes.map(|k| &self.nodes[k]);
        let det = (b.x - a.x) * (c.y - a.y) - (c.x - a.x) * (b.y - a.y);
        let grad = |p: &Node, q: &Node| ((p.y - q.y) / det, (q.x - p.x) / det);
        ([grad(b, c), grad(c, a), grad(a, b)], 0.5 * det)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_what_is_wrong_with_it() {
        let text = "[nodes] 1\n1 0.0 zero\n";
        let e = Mesh::read(text.as_bytes()).unwrap_err();
        assert_eq!(e.to_string(), "line 2: bad y 'zero'");
    }
}

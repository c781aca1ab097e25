struct Size {
    width: u32,
    height: u32,
}

@group(0) @binding(0) var<uniform> size: Size;
@group(0) @binding(1) var<storage, read> now: array<u32>;
@group(0) @binding(2) var<storage, read_write> next: array<u32>;

fn cell(x: u32, y: u32) -> u32 {
    return now[(y % size.height) * size.width + x % size.width];
}

@compute @workgroup_size(8, 8)
fn generation(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= size.width || id.y >= size.height) {
        return;
    }
    let left = id.x + size.width - 1;
    let above = id.y + size.height - 1;
    let around = cell(left, above) + cell(id.x, above) + cell(id.x + 1, above)
        + cell(left, id.y) + cell(id.x + 1, id.y)
        + cell(left, id.y + 1) + cell(id.x, id.y + 1) + cell(id.x + 1, id.y + 1);
    let lives = around == 3 || (around == 2 && cell(id.x, id.y) == 1);
    next[id.y * size.width + id.x] = u32(lives);
}

struct Step {
    time: f32,
    length: f32,
}

@group(0) @binding(0) var<uniform> step: Step;
@group(0) @binding(1) var<storage, read_write> places: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> speeds: array<vec4<f32>>;

// All bodies pull at each other, and a weak pull from outside comes and goes.
@compute @workgroup_size(64)
fn pull(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= arrayLength(&places)) {
        return;
    }
    let here = places[id.x].xyz;
    var sum = vec3<f32>(0.001 * sin(step.time), 0.0, 0.0);
    for (var other = 0u; other < arrayLength(&places); other++) {
        let way = places[other].xyz - here;
        let square = dot(way, way) + 0.01;
        sum += places[other].w * way / (square * sqrt(square));
    }
    speeds[id.x] += vec4<f32>(step.length * sum, 0.0);
}

@compute @workgroup_size(64)
fn move_on(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x < arrayLength(&places)) {
        places[id.x] += vec4<f32>(step.length * speeds[id.x].xyz, 0.0);
    }
}

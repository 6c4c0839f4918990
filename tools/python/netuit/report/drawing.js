"use strict";
// How a coloured graph looks: palettes, adjacency and drawing. A stage knows where nodes are and who owns them.
const root = document.documentElement;
const element = (id) => document.getElementById(id);
const style = (name) => getComputedStyle(root).getPropertyValue(name).trim();
const dark = matchMedia("(prefers-color-scheme: dark)");
const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : dark.matches);

// Apart in lightness as well as in hue, so that everyone can tell them apart.
const PALETTES = {
  light: ["#f6e3a1", "#9ccbe6", "#7076ad", "#dfb4cb", "#86bfa2", "#e9e9e9", "#b08d57", "#46527f"],
  dark: ["#b5ad86", "#3d7c9e", "#33386a", "#86587a", "#35704f", "#7d8288", "#6a5436", "#1f2a4d"],
};
const DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
const colorOf = (index) => {
  const palette = PALETTES[isDark() ? "dark" : "light"];
  if (index < palette.length) return palette[index];
  return `hsl(${(index * 137.5) % 360} 45% ${isDark() ? 38 : 72}%)`;
};

const span = (seconds) => {
  if (seconds === 0) return "0 s";
  if (seconds < 0.0009995) return `${(seconds * 1e6).toPrecision(3)} µs`;
  if (seconds < 0.9995) return `${(seconds * 1e3).toPrecision(3)} ms`;
  return `${seconds.toPrecision(3)} s`;
};

// A stage knows where cells are, which are adjacent and where owners change.
const prepare = (stage) => {
  const count = stage.owner.length;
  const pairs = [];
  const next = (a, b) => pairs.push(a, b);
  if (stage.kind === "grid") {
    const { rows, columns } = stage;
    stage.cells ??= stage.owner.flatMap((_, node) => [Math.floor(node / columns), node % columns]);
    const at = new Map();
    for (let node = 0; node < count; ++node) at.set(stage.cells[2 * node] * columns + stage.cells[2 * node + 1], node);
    stage.borders = [];
    const wraps = stage.adjacency === "torus";
    const isWhole = wraps || stage.adjacency === "plane";
    for (const [place, node] of at) {
      const row = Math.floor(place / columns), column = place % columns;
      const right = column + 1 < columns ? at.get(place + 1) : undefined;
      const below = row + 1 < rows ? at.get(place + columns) : undefined;
      if (stage.isGrid && right !== undefined && stage.owner[right] !== stage.owner[node]) stage.borders.push([column + 1, row, column + 1, row + 1]);
      if (stage.isGrid && below !== undefined && stage.owner[below] !== stage.owner[node]) stage.borders.push([column, row + 1, column + 1, row + 1]);
      if (!isWhole) continue;
      if (right !== undefined) next(node, right); else if (wraps) next(node, at.get(row * columns));
      if (below !== undefined) next(node, below); else if (wraps) next(node, at.get(column));
    }
  }
  stage.pairs = stage.adjacency === "edges" ? stage.edges : pairs;
  return stage;
};
const conflictsOf = (stage, frame) => {
  const marked = new Set();
  let edges = 0;
  for (let i = 0; i < stage.pairs.length; i += 2) {
    const a = stage.pairs[i], b = stage.pairs[i + 1];
    if (frame[a] === frame[b]) { ++edges; marked.add(a).add(b); }
  }
  return { marked, edges };
};

const drawGrid = (context, stage, frame, marked, width, height) => {
  const xOf = (column) => Math.round((column * width) / stage.columns);
  const yOf = (row) => Math.round((row * height) / stage.rows);
  const byColor = new Map();
  for (let node = 0; node < frame.length; ++node) {
    if (!byColor.has(frame[node])) byColor.set(frame[node], []);
    byColor.get(frame[node]).push(node);
  }
  for (const [color, nodes] of byColor) {
    context.fillStyle = colorOf(DIGITS.indexOf(color));
    for (const node of nodes) {
      const row = stage.cells[2 * node], column = stage.cells[2 * node + 1];
      context.fillRect(xOf(column), yOf(row), xOf(column + 1) - xOf(column), yOf(row + 1) - yOf(row));
    }
  }
  const size = width / stage.columns;
  context.fillStyle = style("--conflict");
  context.beginPath();
  for (const node of marked) {
    const x = (stage.cells[2 * node + 1] + 0.5) * size, y = (stage.cells[2 * node] + 0.5) * (height / stage.rows);
    context.moveTo(x, y);
    context.arc(x, y, Math.max(1.5, 0.34 * size), 0, 7);
  }
  context.fill();
  context.strokeStyle = style("--card");  // apart from whatever colour is below
  context.lineWidth = 0.08 * size;
  context.stroke();
  context.strokeStyle = style("--border");
  context.lineWidth = Math.max(2, 0.14 * size);
  context.lineCap = "square";
  context.beginPath();
  for (const [x0, y0, x1, y1] of stage.borders) {
    context.moveTo(xOf(x0), yOf(y0));
    context.lineTo(xOf(x1), yOf(y1));
  }
  context.stroke();
};

const drawGraph = (context, stage, frame, marked, width, height) => {
  const radius = Math.max(1.6, Math.min(14, (0.34 * width) / Math.sqrt(frame.length)));
  const x = (node) => radius + 2 + stage.places[2 * node] * (width - 2 * radius - 4);
  const y = (node) => radius + 2 + stage.places[2 * node + 1] * (height - 2 * radius - 4);
  const edges = (isShown, color, alpha, thickness) => {
    context.strokeStyle = color;
    context.globalAlpha = alpha;
    context.lineWidth = thickness;
    context.beginPath();
    for (let i = 0; i < stage.pairs.length; i += 2) {
      const a = stage.pairs[i], b = stage.pairs[i + 1];
      if (!isShown(a, b)) continue;
      context.moveTo(x(a), y(a));
      context.lineTo(x(b), y(b));
    }
    context.stroke();
    context.globalAlpha = 1;
  };
  const scale = width / 600;
  const isDense = stage.pairs.length > 3000;
  edges((a, b) => stage.owner[a] === stage.owner[b], style("--soft"), isDense ? 0.25 : 0.5, 0.8 * scale);
  edges((a, b) => stage.owner[a] !== stage.owner[b], style("--border"), isDense ? 0.35 : 0.9, (isDense ? 0.8 : 1.3) * scale);
  context.lineWidth = Math.max(0.5, 0.12 * radius);
  const nodes = (isShown, outline) => {
    context.strokeStyle = outline;
    for (let node = 0; node < frame.length; ++node) {
      if (!isShown(node)) continue;
      context.fillStyle = colorOf(DIGITS.indexOf(frame[node]));
      context.beginPath();
      context.arc(x(node), y(node), radius, 0, 7);
      context.fill();
      if (radius > 3) context.stroke();
    }
  };
  nodes((node) => !marked.has(node), style("--border"));
  edges((a, b) => frame[a] === frame[b], style("--conflict"), 1, 2.6 * scale);
  context.lineWidth = Math.max(1, 0.3 * radius);
  nodes((node) => marked.has(node), style("--conflict"));
};

// The theme, and the clock that both sides follow.
(() => {
  const { stages, takes } = JSON.parse(document.getElementById("takes").textContent);

  // Light and dark.
  const theme = element("theme");
  theme.hidden = false;
  const redraws = [];
  const redrawAll = () => redraws.forEach((redraw) => redraw());
  const nameTheme = () => { theme.textContent = isDark() ? "Light" : "Dark"; };
  theme.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    nameTheme();
    redrawAll();
  });
  dark.addEventListener("change", () => { nameTheme(); redrawAll(); });
  nameTheme();
  if (!element("player")) return;
  stages.forEach(prepare);

  // One clock for both sides.
  const sides = [...document.querySelectorAll(".stage")].map((box) => ({
    box, canvas: box.querySelector("canvas"), pick: box.querySelector("select"), state: box.querySelector(".state"), take: null, shown: null,
  }));
  const end = Math.max(...takes.flatMap((take) => take.times));
  const clock = { time: end, isPlaying: false, speed: 1, last: 0, isFresh: true };
  const isStill = takes.every((take) => take.times.length < 2);
  const indexAt = (take, time) => {
    let low = 0, high = take.times.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (take.times[middle] <= time + 1e-9) low = middle; else high = middle - 1;
    }
    return low;
  };

  const takeName = (take) => {
    const several = (key) => new Set(takes.map((other) => other[key])).size > 1;
    return `mode ${take.mode}${take.name ? ` ${take.name}` : ""}` + (several("case") ? `, ${take.case}` : "") +
      (several("replicate") ? `, replicate ${take.replicate}` : "");
  };

  const fit = (side) => {
    const stage = stages[side.take.stage];
    const ratio = stage.kind === "grid" ? stage.rows / stage.columns : 1;
    const most = Math.max(120, Math.min(side.box.clientWidth - (innerWidth <= 620 ? 16 : 28), 560 / Math.min(1, ratio), 620 / ratio));
    const pixels = window.devicePixelRatio || 1;
    side.canvas.style.width = `${most}px`;
    side.canvas.style.height = `${most * ratio}px`;
    side.canvas.width = Math.round(most * pixels);
    side.canvas.height = Math.round(most * ratio * pixels);
    side.shown = null;
  };

  const drawSide = (side) => {
    const { take, canvas } = side;
    const index = indexAt(take, clock.time);
    if (side.shown === index) return;
    side.shown = index;
    const stage = stages[take.stage], frame = take.frames[index];
    const { marked, edges } = conflictsOf(stage, frame);
    const context = canvas.getContext("2d");
    context.clearRect(0, 0, canvas.width, canvas.height);
    (stage.kind === "grid" ? drawGrid : drawGraph)(context, stage, frame, marked, canvas.width, canvas.height);
    const isKnown = stage.adjacency !== "unknown";
    const count = isKnown ? edges : take.conflicts[index];
    const total = isKnown ? ` of ${(stage.pairs.length / 2).toLocaleString("en")}` : "";
    side.state.textContent = count >= 0 ? `${count.toLocaleString("en")}${total} adjacent pairs in conflict` : "conflicts are not known";
    if (!clock.isPlaying) canvas.setAttribute("aria-label", `${takeName(take)} at ${span(clock.time)}: ${side.state.textContent}`);
  };

  const trend = element("trend");
  const drawTrend = () => {
    const pixels = window.devicePixelRatio || 1;
    trend.width = Math.round(trend.clientWidth * pixels);
    trend.height = Math.round(trend.clientHeight * pixels);
    const context = trend.getContext("2d");
    const inset = 8 * pixels, wide = trend.width - 2 * inset, high = trend.height - 4 * pixels;
    const counts = sides.flatMap((side) => side.take.conflicts).map((count) => Math.log1p(Math.max(0, count)));
    const least = counts.reduce((a, b) => Math.min(a, b)), most = counts.reduce((a, b) => Math.max(a, b));
    const x = (time) => inset + (time / (end || 1)) * wide;
    const y = (count) => 2 * pixels + high * (1 - (Math.log1p(Math.max(0, count)) - least) / (most - least || 1));
    context.lineWidth = 2 * pixels;
    sides.forEach((side, number) => {
      context.strokeStyle = style(`--m${side.take.mode}`) || style("--link");
      context.setLineDash(number === 1 && sides[0].take.mode === side.take.mode ? [4 * pixels, 3 * pixels] : []);
      context.beginPath();
      side.take.times.forEach((time, index) => context.lineTo(x(time), y(side.take.conflicts[index])));
      context.lineTo(x(end), y(side.take.conflicts[side.take.conflicts.length - 1]));
      context.stroke();
    });
    context.setLineDash([]);
    context.strokeStyle = style("--ink");
    context.lineWidth = pixels;
    context.beginPath();
    context.moveTo(x(clock.time), 0);
    context.lineTo(x(clock.time), trend.height);
    context.stroke();
  };

  const scrub = element("scrub");
  const draw = () => {
    sides.forEach(drawSide);
    drawTrend();
    element("clock").textContent = span(clock.time);
    scrub.value = end ? String(Math.round((1000 * clock.time) / end)) : "1000";
    scrub.setAttribute("aria-valuetext", span(clock.time));
  };

  const setPlaying = (isPlaying) => {
    clock.isPlaying = isPlaying;
    element("play").textContent = isPlaying ? "Pause" : "Play";
    sides.forEach((side) => { if (!isPlaying) side.shown = null; });
    if (isPlaying) { clock.last = performance.now(); requestAnimationFrame(tick); } else { draw(); }
  };
  const tick = (now) => {
    if (!clock.isPlaying) return;
    clock.time = Math.min(end, clock.time + (Math.max(0, now - clock.last) / 1000) * clock.speed);
    clock.last = now;
    draw();
    if (clock.time >= end) setPlaying(false); else requestAnimationFrame(tick);
  };
  const toggle = () => {
    if (!clock.isPlaying && (clock.isFresh || clock.time >= end)) clock.time = 0;
    clock.isFresh = false;
    setPlaying(!clock.isPlaying);
  };
  const seek = (time) => {
    clock.isFresh = false;
    clock.time = Math.min(end, Math.max(0, time));
    if (clock.isPlaying) setPlaying(false); else draw();
  };
  const step = (direction) => {
    const times = sides.flatMap((side) => side.take.times).sort((a, b) => a - b);
    const near = direction > 0 ? times.find((time) => time > clock.time + 1e-9) : times.findLast((time) => time < clock.time - 1e-9);
    seek(near ?? (direction > 0 ? end : 0));
  };

  // At a speed that shows the early changes in some seconds: that of the slowest take to lose three quarters of its conflicts.
  const SPEEDS = [4, 2, 1, 1 / 2, 1 / 5, 1 / 10, 1 / 20, 1 / 50, 1 / 100, 1 / 200, 1 / 500, 1 / 1000];
  const chooseSpeed = () => {
    const spans = takes.map((take) => {
      const most = Math.max(...take.conflicts);
      const index = take.conflicts.findIndex((count) => count <= most / 4);
      return take.times[index < 0 ? take.times.length - 1 : index];
    });
    const wanted = Math.max(Math.max(...spans) / 3, end / 30);
    return SPEEDS.reduce((best, speed) => (Math.abs(Math.log(speed / wanted)) < Math.abs(Math.log(best / wanted)) ? speed : best));
  };
  const speeds = element("speed");
  for (const speed of SPEEDS) speeds.add(new Option(speed >= 1 ? `${speed} x` : `1/${Math.round(1 / speed)} x`, String(speed)));
  clock.speed = chooseSpeed();
  speeds.value = String(clock.speed);
  speeds.addEventListener("change", () => { clock.speed = Number(speeds.value); });

  // When one side has left most of its conflicts behind and the other has not.
  const mostApart = () => {
    const left = (side, time) => Math.log1p(Math.max(0, side.take.conflicts[indexAt(side.take, time)]));
    const apart = (time) => Math.abs(left(sides[0], time) - left(sides[1], time));
    return sides.flatMap((side) => side.take.times).reduce((best, time) => (apart(time) > apart(best) ? time : best), end);
  };

  const describeColors = () => {
    const used = new Set(sides.flatMap((side) => [...new Set(side.take.frames.join(""))]));
    const list = element("colors");
    list.replaceChildren();
    const entry = (background, text, isRound) => {
      const item = document.createElement("li"), swatch = document.createElement("i");
      swatch.style.background = background;
      if (isRound) swatch.style.borderRadius = "50%";
      item.append(swatch, text);
      list.append(item);
    };
    for (const index of [...used].map((digit) => DIGITS.indexOf(digit)).sort((a, b) => a - b).slice(0, 16)) entry(colorOf(index), `colour ${index}`);
    entry(style("--conflict"), "in conflict", true);
    if (sides.some((side) => stages[side.take.stage].workers.length > 1)) entry(style("--border"), sides.some((side) => stages[side.take.stage].kind === "grid") ? "border between workers" : "edge between workers");
  };

  const choose = (side, number) => {
    side.take = takes[number];
    side.pick.value = String(number);
    fit(side);
  };
  const first = takes.findIndex((take) => take.mode === 0);
  const best = takes.findIndex((take) => take.mode === 3 && (first < 0 || take.case === takes[first].case));
  const left = first < 0 ? 0 : first;
  sides.forEach((side, number) => {
    takes.forEach((take, index) => side.pick.add(new Option(takeName(take), String(index))));
    choose(side, number === 0 ? left : best >= 0 && best !== left ? best : takes.length - 1);
    side.pick.addEventListener("change", () => { choose(side, Number(side.pick.value)); describeColors(); draw(); });
  });
  const refresh = () => {
    const isWide = sides.some((side) => stages[side.take.stage].columns > 1.5 * stages[side.take.stage].rows);
    document.querySelector(".stages").classList.toggle("is-wide", isWide);
    sides.forEach(fit);
    describeColors();
    draw();
  };
  redraws.push(refresh);
  addEventListener("resize", refresh);

  element("play").addEventListener("click", toggle);
  element("back").addEventListener("click", () => step(-1));
  element("forth").addEventListener("click", () => step(1));
  scrub.addEventListener("input", () => seek((end * Number(scrub.value)) / 1000));
  if (isStill) for (const id of ["play", "back", "forth", "scrub", "speed"]) element(id).disabled = true;
  addEventListener("keydown", (event) => {
    const target = event.target;
    if (isStill || event.ctrlKey || event.metaKey || event.altKey || target.closest("select, summary, .scroll")) return;
    const isButton = target.closest("button") !== null;
    const actions = { " ": isButton ? null : toggle, ArrowLeft: () => step(-1), ArrowRight: () => step(1), Home: () => seek(0), End: () => seek(end) };
    const isPlayerKey = event.key === " " || target === document.body || target.closest("#player") !== null;
    const action = isPlayerKey ? actions[event.key] : null;
    if (!action) return;
    event.preventDefault();
    action();
  });
  clock.time = mostApart();
  refresh();
})();


// Adds what paper can't do: a map that answers the pointer and the keyboard, and buttons to choose the file.
(() => {
  "use strict";
  const data = JSON.parse(document.getElementById("map-data").textContent);
  const figures = [...document.querySelectorAll("figure.map")];
  const radians = Math.PI / 180;
  const { coefficients: [a1, a2, a3, a4], scale, x: middleX, y: middleY } = data.projection;

  const project = (lat, lon) => {
    const theta = Math.asin(Math.sqrt(3) / 2 * Math.sin(lat * radians));
    const square = theta ** 2, sixth = square ** 3;
    const y = theta * (a1 + a2 * square + sixth * (a3 + a4 * square));
    const slope = a1 + 3 * a2 * square + sixth * (7 * a3 + 9 * a4 * square);
    const x = 2 * Math.sqrt(3) * lon * radians * Math.cos(theta) / (3 * slope);
    return [middleX + scale * x, middleY - scale * y];
  };

  const greatCircle = (lat1, lon1, lat2, lon2) => {
    const sphere = (lat, lon) => [Math.cos(lat * radians) * Math.cos(lon * radians), Math.cos(lat * radians) * Math.sin(lon * radians), Math.sin(lat * radians)];
    const p = sphere(lat1, lon1), q = sphere(lat2, lon2);
    const angle = Math.acos(Math.min(1, Math.max(-1, p[0] * q[0] + p[1] * q[1] + p[2] * q[2])));
    const steps = Math.max(1, Math.ceil(angle / (2 * radians)));
    let path = "", before = null;
    for (let step = 0; step <= steps; step++) {
      const t = step / steps;
      const f = angle > 1e-6 ? Math.sin((1 - t) * angle) / Math.sin(angle) : 1 - t;
      const g = angle > 1e-6 ? Math.sin(t * angle) / Math.sin(angle) : t;
      const v = [0, 1, 2].map((axis) => f * p[axis] + g * q[axis]);
      const lat = Math.atan2(v[2], Math.hypot(v[0], v[1])) / radians, lon = Math.atan2(v[1], v[0]) / radians;
      const jump = before !== null && Math.abs(lon - before) > 180;
      path += (step === 0 || jump ? "M" : "L") + project(lat, lon).map((value) => value.toFixed(1)).join(" ");
      before = lon;
    }
    return path;
  };

  const make = (name, attributes, ...children) => {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    node.append(...children);
    return node;
  };
  const stroke = (kind, d) => {
    const node = document.createElementNS(document.querySelector("svg").namespaceURI, "path");
    node.setAttribute("class", kind);
    node.setAttribute("d", d);
    return node;
  };
  const degrees = (lat, lon) => `${lat.toFixed(4)}, ${lon.toFixed(4)}`.replaceAll("-", "\u2212");

  const choose = (chosen) => {
    figures.forEach((figure, index) => { figure.hidden = index !== chosen; });
    document.querySelectorAll(".tools [data-file]").forEach((button) => {
      button.setAttribute("aria-pressed", String(Number(button.dataset.file) === chosen));
    });
  };

  figures.forEach((figure, index) => {
    const file = data.files[index];
    const svg = figure.querySelector("svg"), marker = svg.querySelector(".marker"), stage = figure.querySelector(".stage");
    const whole = svg.dataset.whole.split(" ").map(Number), home = svg.getAttribute("viewBox").split(" ").map(Number);
    const places = file.x.map((x, row) => [x, file.y[row]]);
    const tip = make("div", { class: "tip", role: "status" });
    tip.hidden = true;
    figure.append(tip);
    let view = [...home], shown = -1, step = -1;

    const look = (box) => {
      const width = Math.min(whole[2], Math.max(12, box[2])), height = width * whole[3] / whole[2];
      const x = box[0] + (box[2] - width) / 2, y = box[1] + (box[3] - height) / 2;
      view = [Math.min(whole[2] - width, Math.max(0, x)), Math.min(whole[3] - height, Math.max(0, y)), width, height];
      svg.setAttribute("viewBox", view.map((value) => value.toFixed(2)).join(" "));
      figure.classList.toggle("moved", width < whole[2]);
      hide();
    };
    const zoom = (factor) => {
      look([view[0] + view[2] * (1 - factor) / 2, view[1] + view[3] * (1 - factor) / 2, view[2] * factor, view[3] * factor]);
    };
    const hide = () => { tip.hidden = true; marker.replaceChildren(); shown = -1; };
    const show = (row) => {
      if (row === shown) return;
      shown = row;
      const [x, y] = places[row], located = file.error[row] !== null;
      const parts = [];
      if (located) {
        const [lat, lon] = [file.answerLat[row], file.answerLon[row]], [endX, endY] = project(lat, lon);
        // From the dot, which may be fanned out a little from its true place.
        parts.push(stroke("way", greatCircle(file.lat[row], file.lon[row], lat, lon).replace("M", `M${x} ${y}L`)));
        parts.push(stroke("end", `M${endX} ${endY}h0`), stroke("hole", `M${endX} ${endY}h0`));
      }
      parts.push(stroke("end", `M${x} ${y}h0`));
      marker.replaceChildren(...parts);
      const id = make("bdi", {}, file.ids[row]);
      tip.replaceChildren(make("b", {}, located ? `${file.error[row]} off` : "unlocated"), id, make("br", {}),
        `true: ${degrees(file.lat[row], file.lon[row])}`, make("br", {}),
        located ? `answered: ${degrees(file.answerLat[row], file.answerLon[row])}` : "no usable answer");
      tip.hidden = false;
      const spot = new DOMPoint(x, y).matrixTransform(svg.getScreenCTM()), frame = figure.getBoundingClientRect();
      const left = Math.min(Math.max(0, spot.x - frame.left + 14), frame.width - tip.offsetWidth);
      const below = spot.y - frame.top + 14;
      tip.style.left = `${left}px`;
      tip.style.top = `${spot.x - frame.left + 14 > frame.width - tip.offsetWidth ? below + 8 : below}px`;
    };
    const nearest = (event) => {
      const matrix = svg.getScreenCTM();
      const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix.inverse());
      let best = -1, least = ((event.pointerType === "touch" ? 22 : 12) / matrix.a) ** 2;
      places.forEach(([x, y], row) => {
        const gap = (x - at.x) ** 2 + (y - at.y) ** 2;
        // On one spot the worse error wins, as it lies on top.
        if (gap < least || (gap === least && best >= 0 && file.classes[row] > file.classes[best])) { best = row; least = gap; }
      });
      return best;
    };

    let drag = null;
    svg.addEventListener("pointerdown", (event) => { drag = view[2] < whole[2] ? { x: event.clientX, y: event.clientY, view: [...view] } : null; });
    svg.addEventListener("pointerup", () => { drag = null; });
    svg.addEventListener("pointerleave", () => { drag = null; hide(); });
    svg.addEventListener("pointermove", (event) => {
      if (drag && event.buttons) {
        const unit = svg.getScreenCTM().a;
        look([drag.view[0] - (event.clientX - drag.x) / unit, drag.view[1] - (event.clientY - drag.y) / unit, view[2], view[3]]);
        return;
      }
      const row = nearest(event);
      if (row < 0) hide(); else show(row);
    });
    svg.addEventListener("click", (event) => { const row = nearest(event); if (row >= 0) show(row); });
    svg.setAttribute("tabindex", "0");
    svg.addEventListener("keydown", (event) => {
      const last = file.order.length - 1;
      if (event.key === "ArrowRight" || event.key === "ArrowDown") step = Math.min(last, step + 1);
      else if (event.key === "ArrowLeft" || event.key === "ArrowUp") step = Math.max(0, step - 1);
      else if (event.key === "Escape") { hide(); return; }
      else if (event.key === "+" || event.key === "=") { zoom(0.6); return; }
      else if (event.key === "-") { zoom(1 / 0.6); return; }
      else return;
      event.preventDefault();
      if (last >= 0) show(file.order[step]);
    });
    svg.addEventListener("blur", hide);

    const tools = make("div", { class: "tools" });
    if (figures.length > 1) {
      const group = make("div", { class: "group", role: "group", "aria-label": "Answers to show" });
      data.files.forEach((other, number) => {
        const button = make("button", { type: "button", "data-file": number }, make("bdi", {}, other.label));
        button.addEventListener("click", () => {
          choose(number);
          figures[number].querySelector(`[data-file="${number}"]`).focus();
        });
        group.append(button);
      });
      tools.append(group);
      figure.querySelector("h3").hidden = true;
    }
    const views = make("div", { class: "group right", role: "group", "aria-label": "View" });
    const add = (words, title, act) => {
      const button = make("button", { type: "button", "aria-label": title, title }, words);
      button.addEventListener("click", act);
      views.append(button);
    };
    if (home[2] < whole[2]) add("Where the photos are", "Show where the photos are", () => look(home));
    add("Whole world", "Show the whole world", () => look(whole));
    add("\u2212", "Zoom out", () => zoom(1 / 0.6));
    add("+", "Zoom in", () => zoom(0.6));
    tools.append(views);
    figure.prepend(tools);
    const hint = "Point at a dot for its record; with the keyboard, focus the map and use the arrow keys, worst first.";
    stage.after(make("p", { class: "hint" }, hint));
  });
  if (figures.length > 1) choose(0);
})();

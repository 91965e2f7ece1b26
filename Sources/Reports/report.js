"use strict";
// Each graph: a scrollable view of the folded and of the whole network, and a panel for the node
// that is clicked. Ctrl with the wheel or + and − zoom, 0 shows all.
for (const section of document.querySelectorAll(".graphs")) {
  const viewers = [...section.querySelectorAll(".viewer")];
  const [tools, panel] = [".tools", ".panel"].map((name) => section.querySelector(name));
  const [search, fold] = ["search", "checkbox"].map((type) => tools.querySelector(`input[type=${type}]`));
  const count = tools.querySelector("output");
  const visible = () => viewers.find((viewer) => !viewer.hidden);
  const make = (tag, text, parent) => parent.appendChild(Object.assign(document.createElement(tag), { textContent: text }));
  tools.hidden = false;

  for (const viewer of viewers) {
    const image = viewer.querySelector("svg");
    const [, , width, height] = image.getAttribute("viewBox").split(" ").map(Number);
    viewer.nodes = [...viewer.querySelectorAll(".node")];
    viewer.edges = [...viewer.querySelectorAll(".edge")];
    for (const edge of viewer.edges) edge.ends = edge.dataset.ends.split(" ").map(Number);
    let scale = 1;
    viewer.zoom = (value, x = viewer.clientWidth / 2, y = viewer.clientHeight / 2) => {
      const old = scale;
      scale = Math.min(3, Math.max(0.02, value));
      const place = [viewer.scrollLeft + x, viewer.scrollTop + y].map((length) => length * scale / old);
      image.setAttribute("width", width * scale);
      image.setAttribute("height", height * scale);
      viewer.scrollTo(place[0] - x, place[1] - y);
    };
    viewer.scale = (factor, x, y) => viewer.zoom(scale * factor, x, y);
    const room = () => [viewer.clientWidth / width, innerHeight * 0.8 / height];
    viewer.all = () => viewer.zoom(Math.min(...room(), 1));
    viewer.center = (node) => {
      const [frame, place] = [viewer, node].map((element) => element.getBoundingClientRect());
      viewer.scrollBy(place.x + place.width / 2 - frame.x - frame.width / 2, place.y + place.height / 2 - frame.y - frame.height / 2);
    };
    // At first the full width, if it can be read, from the top.
    viewer.start = () => {
      viewer.zoom(Math.min(1, Math.max(room()[0], innerWidth > 640 ? 0.4 : 0.55)));
      if (viewer.nodes.length > 0) viewer.center(viewer.nodes[0]);
      viewer.scrollTop = 0;
      viewer.start = () => {};
    };
    viewer.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const frame = viewer.getBoundingClientRect();
      viewer.scale(Math.exp(-event.deltaY / 300), event.clientX - frame.x, event.clientY - frame.y);
    }, { passive: false });
    let drag = null, moved = 0;
    viewer.addEventListener("pointerdown", (event) => {
      moved = 0;
      drag = event.pointerType === "mouse" ? [event.clientX, event.clientY] : null;
    });
    addEventListener("pointerup", () => { drag = null; });
    addEventListener("pointermove", (event) => {
      if (!drag) return;
      const step = [drag[0] - event.clientX, drag[1] - event.clientY];
      moved += Math.abs(step[0]) + Math.abs(step[1]);
      viewer.scrollBy(...step);
      drag = [event.clientX, event.clientY];
    });
    viewer.addEventListener("dragstart", (event) => event.preventDefault());
    viewer.addEventListener("click", (event) => {
      const node = event.target.closest(".node");
      if (!node || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      if (moved < 5) choose(viewer, viewer.nodes.indexOf(node));
    });
    viewer.addEventListener("keydown", (event) => {
      const index = viewer.nodes.indexOf(event.target);
      const keys = {
        "+": () => viewer.scale(1.25), "-": () => viewer.scale(0.8), "0": viewer.all, "1": () => viewer.zoom(1),
        Escape: close, Enter: () => index >= 0 && choose(viewer, index),
      };
      if (!keys[event.key] || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      keys[event.key]();
    });
  }

  const close = () => {
    panel.hidden = true;
    for (const element of section.querySelectorAll(".chosen, .near")) element.classList.remove("chosen", "near");
  };
  const nameOf = (node) => node.querySelector("title").textContent;
  const links = (title, nodes, go) => {
    if (nodes.length === 0) return;
    make("p", title, panel);
    const list = make("ul", "", panel);
    for (const node of nodes) {
      const link = make("a", nameOf(node), make("li", "", list));
      link.href = node.getAttribute("href") || "#";
      link.addEventListener("click", (event) => { event.preventDefault(); go(node); });
    }
  };
  // Everything about a node: its row in the table, and what it is connected to.
  const choose = (viewer, index) => {
    close();
    const node = viewer.nodes[index], near = { from: new Set(), to: new Set() };
    node.classList.add("chosen");
    for (const edge of viewer.edges) {
      if (!edge.ends.includes(index)) continue;
      edge.classList.add("near");
      if (edge.ends[0] === index) near.to.add(viewer.nodes[edge.ends[1]]);
      else near.from.add(viewer.nodes[edge.ends[0]]);
    }
    panel.replaceChildren();
    panel.hidden = false;
    panel.scrollTop = 0;
    Object.assign(make("button", "×", panel), { className: "close", title: "close (Escape)" }).addEventListener("click", close);
    const texts = [...node.querySelectorAll("text")].map((text) => text.textContent);
    const row = node.hasAttribute("href") && document.getElementById(node.getAttribute("href").slice(1));
    const members = (node.dataset.members || "").split(" ").map((id) => `#${id}`);
    const kind = make("p", row ? texts[0] : [...node.classList].find((name) => /^(in|out)put$/.test(name)), panel);
    kind.className = `kind ${node.getAttribute("class")}`;
    kind.classList.remove("node", "chosen");
    make("h3", nameOf(node), panel);
    if (!row) make("p", texts[1] || "", panel);
    const go = (other) => { viewer.center(other); choose(viewer, viewer.nodes.indexOf(other)); };
    if (row && !node.dataset.members) {
      const table = make("table", "", panel);
      ["shape", "parameters", "multiply-adds"].forEach((name, place) => {
        const text = row.cells[place + 2].textContent;
        if (text === "" || text === "0") return;
        const line = make("tr", "", table);
        make("th", name, line);
        make("td", text, line);
      });
      for (const part of row.querySelector("details").children) {
        if (part.tagName !== "SUMMARY") panel.append(part.cloneNode(true));
      }
    } else if (row) {
      const whole = viewers.find((other) => other !== viewer);
      const layers = whole ? whole.nodes.filter((other) => members.includes(other.getAttribute("href"))) : [];
      links("layers", layers, (layer) => {
        fold.checked = false;
        view();
        whole.center(layer);
        choose(whole, whole.nodes.indexOf(layer));
      });
    }
    links("from", [...near.from], go);
    links("to", [...near.to], go);
    if (row) make("a", "row in the table", make("p", "", panel)).href = node.getAttribute("href");
  };

  let found = [], place = -1;
  const look = () => {
    const words = search.value.toLowerCase();
    found = [];
    for (const node of visible().nodes) {
      const text = `${node.textContent} ${node.getAttribute("class")}`.toLowerCase();
      const matches = words !== "" && text.includes(words);
      node.classList.toggle("found", matches);
      if (matches) found.push(node);
    }
    place = -1;
    count.textContent = words === "" ? "" : `${found.length} found`;
  };
  search.addEventListener("input", look);
  search.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || found.length === 0) return;
    place = (place + (event.shiftKey ? found.length - 1 : 1)) % found.length;
    visible().center(found[place]);
    choose(visible(), visible().nodes.indexOf(found[place]));
    count.textContent = `${place + 1} of ${found.length}`;
  });
  const view = () => {
    for (const viewer of viewers) viewer.hidden = viewers.length > 1 && viewer.classList.contains("folded") !== fold.checked;
    close();
    visible().start();
    look();
  };
  if (fold) fold.addEventListener("change", view);
  const actions = [() => visible().scale(0.8), () => visible().scale(1.25), () => visible().all()];
  tools.querySelectorAll("button").forEach((button, index) => button.addEventListener("click", actions[index]));
  view();
  section.open = (hash) => {
    const viewer = viewers[viewers.length - 1], index = viewer.nodes.findIndex((node) => node.getAttribute("href") === hash);
    if (index < 0) return;
    if (fold) fold.checked = false;
    view();
    viewer.center(viewer.nodes[index]);
    choose(viewer, index);
  };
}

// A link to a layer opens its row, and shows it in the graph.
const open = () => {
  const row = location.hash && document.getElementById(location.hash.slice(1));
  if (!row || row.tagName !== "TR") return;
  for (const section of document.querySelectorAll(".graphs")) section.open(location.hash);
  for (let details = row.closest("details"); details; details = details.parentElement.closest("details")) details.open = true;
  for (const details of row.querySelectorAll("details")) details.open = true;
  row.scrollIntoView();
};
addEventListener("hashchange", open);
open();

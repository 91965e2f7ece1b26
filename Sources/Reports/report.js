"use strict";
// Each graph: a scrollable view of the folded and of the whole network, and a panel for the node
// that is clicked. Ctrl with the wheel or + and − zoom, 0 shows all, 1 is the size of the text.
for (const section of document.querySelectorAll(".graphs")) {
  const viewers = [...section.querySelectorAll(".viewer")];
  const [search, fold, count, panel] = ["[type=search]", "[type=checkbox]", "output", ".panel"].map((name) => section.querySelector(name));
  const visible = () => viewers.find((viewer) => !viewer.hidden);
  const make = (tag, text, parent = panel, more = {}) => {
    const element = Object.assign(document.createElement(tag), { textContent: text }, more);
    parent.append(element);
    return element;
  };
  const nameOf = (node) => node.querySelector("title").textContent;
  const rowOf = (node) => document.getElementById((node.getAttribute("href") || "#").slice(1));
  const close = () => {
    panel.hidden = true;
    for (const element of section.querySelectorAll(".chosen, .near")) element.classList.remove("chosen", "near");
  };
  const links = (title, viewer, nodes) => {
    if (nodes.length === 0) return;
    make("p", title);
    const list = make("ul", "");
    for (const node of nodes) {
      make("a", nameOf(node), make("li", "", list), { href: node.getAttribute("href") || "#" }).addEventListener("click", (event) => {
        event.preventDefault();
        show(viewer);
        choose(viewer, node, true);
      });
    }
  };
  // Everything about a node: its row in the table, and what it is connected to.
  const choose = (viewer, node, isCentered) => {
    close();
    panel.replaceChildren();
    panel.hidden = false;
    if (isCentered) viewer.center(node);
    const index = viewer.nodes.indexOf(node), row = rowOf(node), ends = [new Set(), new Set()];
    node.classList.add("chosen");
    for (const edge of viewer.edges) {
      const pair = edge.dataset.ends.split(" ").map(Number), place = pair.indexOf(index);
      edge.classList.toggle("near", place >= 0);
      if (place >= 0) ends[1 - place].add(viewer.nodes[pair[1 - place]]);
    }
    make("button", "×", panel, { className: "close", title: "close (Escape)" }).addEventListener("click", close);
    const texts = [...node.querySelectorAll("text")].map((text) => text.textContent), { members } = node.dataset;
    make("p", row ? texts[0] : node.matches(".input") ? "input" : "output").className = `kind ${node.classList}`;
    make("h3", nameOf(node));
    if (members) {
      const layers = members.split(" "), whole = viewers[viewers.length - 1];
      links("layers", whole, whole.nodes.filter((other) => layers.includes(rowOf(other)?.id)));
    } else if (row) {
      const table = make("table", "");
      ["shape", "parameters", "multiply-adds"].forEach((name, place) => {
        const line = table.insertRow(), text = row.cells[place + 2].textContent;
        make("th", name, line);
        make("td", text, line);
        line.hidden = text === "" || text === "0";
      });
      panel.append(...[...row.querySelector("details").cloneNode(true).children].slice(1));
    } else make("p", texts[1] || "");
    links("from", viewer, [...ends[0]]);
    links("to", viewer, [...ends[1]]);
    if (row) make("a", "row in the table", make("p", ""), { href: `#${row.id}` });
  };
  const show = (viewer) => {
    for (const other of viewers) other.hidden = other !== viewer;
    if (fold) fold.checked = viewer.matches(".folded");
    viewer.start();
    look();
  };

  for (const viewer of viewers) {
    const image = viewer.querySelector("svg"), { width, height } = image.viewBox.baseVal;
    const room = () => viewer.clientWidth / width;
    let scale = 0, drag = null, moved = 0;
    viewer.nodes = [...viewer.querySelectorAll(".node")];
    viewer.edges = [...viewer.querySelectorAll(".edge")];
    viewer.zoom = (value, x = viewer.clientWidth / 2, y = viewer.clientHeight / 2) => {
      const old = scale || 1;
      scale = Math.min(3, Math.max(0.02, value));
      const place = [viewer.scrollLeft + x, viewer.scrollTop + y].map((length) => length * scale / old);
      image.setAttribute("width", width * scale);
      image.setAttribute("height", height * scale);
      viewer.scrollTo(place[0] - x, place[1] - y);
    };
    viewer.center = (node) => {
      const [a, b] = [viewer, node].map((element) => element.getBoundingClientRect());
      viewer.scrollBy(b.x + b.width / 2 - a.x - a.width / 2, b.y + b.height / 2 - a.y - a.height / 2);
    };
    // At first the full width, if it can be read, from the top.
    viewer.start = () => {
      if (scale > 0) return;
      viewer.zoom(Math.min(1, Math.max(room(), 0.75)));
      viewer.center(viewer.nodes[0] || image);
      viewer.scrollTop = 0;
    };
    viewer.keys = {
      "+": () => viewer.zoom(scale * 1.25), "-": () => viewer.zoom(scale * 0.8), "1": () => viewer.zoom(1),
      "0": () => viewer.zoom(Math.min(room(), innerHeight * 0.8 / height, 1)), Escape: close,
    };
    viewer.addEventListener("keydown", (event) => {
      if (!viewer.keys[event.key] || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      viewer.keys[event.key]();
    });
    viewer.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const frame = viewer.getBoundingClientRect();
      viewer.zoom(scale * Math.exp(-event.deltaY / 300), event.clientX - frame.x, event.clientY - frame.y);
    }, { passive: false });
    viewer.addEventListener("dragstart", (event) => event.preventDefault());
    viewer.addEventListener("pointerdown", (event) => { [moved, drag] = [0, event.pointerType === "mouse"]; });
    addEventListener("pointerup", () => { drag = false; });
    addEventListener("pointermove", (event) => {
      if (!drag) return;
      moved += Math.abs(event.movementX) + Math.abs(event.movementY);
      viewer.scrollBy(-event.movementX, -event.movementY);
    });
    viewer.addEventListener("click", (event) => {
      const node = event.target.closest(".node");
      if (!node || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      if (moved < 5) choose(viewer, node);
    });
  }

  // A block has the words of its layers.
  const wordsOf = (node) => node.words ??= [
    node.textContent, node.classList, ...(node.dataset.members || "").split(" ").map((id) => document.getElementById(id)?.textContent),
  ].join(" ").toLowerCase();
  let found = [], place = -1;
  const look = () => {
    const words = search.value.toLowerCase();
    found = visible().nodes.filter((node) => words !== "" && wordsOf(node).includes(words));
    for (const node of visible().nodes) node.classList.toggle("found", found.includes(node));
    place = -1;
    count.textContent = words === "" ? "" : `${found.length} found`;
  };
  search.addEventListener("input", look);
  search.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || found.length === 0) return;
    place = (place + (event.shiftKey ? found.length - 1 : 1)) % found.length;
    choose(visible(), found[place], true);
    count.textContent = `${place + 1} of ${found.length}`;
  });
  const view = () => { close(); show(viewers[fold && !fold.checked ? 1 : 0]); };
  if (fold) fold.addEventListener("change", view);
  for (const button of section.querySelectorAll("button[value]")) button.addEventListener("click", () => visible().keys[button.value]());
  section.querySelector(".tools").hidden = false;
  view();
  section.open = (row) => {
    const whole = viewers[viewers.length - 1], node = whole.nodes.find((node) => rowOf(node) === row);
    if (node) show(whole), choose(whole, node, true);
  };
}

// A link to a layer opens its row, and shows it in the graph.
const open = () => {
  const row = location.hash && document.getElementById(location.hash.slice(1));
  if (!row || row.tagName !== "TR") return;
  for (const section of document.querySelectorAll(".graphs")) section.open(row);
  row.querySelector("details").open = true;
  if (row.closest("section > details")) row.closest("section > details").open = true;
  row.scrollIntoView();
};
addEventListener("hashchange", open);
open();

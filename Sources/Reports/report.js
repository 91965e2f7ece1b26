"use strict";
// Each graph: drag or arrow keys move it, the wheel with Ctrl or + and − zoom, 0 shows all of it.
for (const section of document.querySelectorAll(".graphs")) {
  const viewers = [...section.querySelectorAll(".viewer")];
  const visible = () => viewers.find((viewer) => !viewer.hidden);

  for (const viewer of viewers) {
    const image = viewer.querySelector("svg");
    const whole = image.getAttribute("viewBox").split(" ").map(Number);
    let box = [...whole];
    const show = () => image.setAttribute("viewBox", box.join(" "));
    // At first the top, at a size that can be read.
    const width = Math.max(1, viewer.clientWidth || 900), height = Math.max(1, viewer.clientHeight || 600);
    const start = () => {
      const scale = Math.max(1, Math.min(whole[2] / width, 1.6));
      box = [whole[0] + (whole[2] - width * scale) / 2, whole[1], width * scale, height * scale];
      show();
    };
    const zoom = (factor, x = 0.5, y = 0.5) => {
      box = [box[0] + box[2] * x * (1 - factor), box[1] + box[3] * y * (1 - factor), box[2] * factor, box[3] * factor];
      show();
    };
    const move = (x, y) => { box[0] += x * box[2]; box[1] += y * box[3]; show(); };
    viewer.center = (node) => {
      const place = node.getBBox();
      box[0] = place.x + place.width / 2 - box[2] / 2;
      box[1] = place.y + place.height / 2 - box[3] / 2;
      show();
    };
    viewer.addEventListener("wheel", (event) => {
      const frame = viewer.getBoundingClientRect();
      event.preventDefault();
      if (event.ctrlKey || event.metaKey) {
        zoom(Math.exp(event.deltaY / 300), (event.clientX - frame.x) / frame.width, (event.clientY - frame.y) / frame.height);
      } else move(event.deltaX / frame.width, event.deltaY / frame.height);
    }, { passive: false });
    let drag = null;
    viewer.addEventListener("pointerdown", (event) => { drag = [event.clientX, event.clientY]; });
    addEventListener("pointerup", () => { drag = null; });
    viewer.addEventListener("pointermove", (event) => {
      if (!drag) return;
      move((drag[0] - event.clientX) / viewer.clientWidth, (drag[1] - event.clientY) / viewer.clientHeight);
      drag = [event.clientX, event.clientY];
    });
    viewer.addEventListener("keydown", (event) => {
      const keys = {
        ArrowLeft: () => move(-0.1, 0), ArrowRight: () => move(0.1, 0), ArrowUp: () => move(0, -0.1),
        ArrowDown: () => move(0, 0.1), "+": () => zoom(0.8), "-": () => zoom(1.25),
        "0": () => { box = [...whole]; show(); }, "1": start,
      };
      if (!keys[event.key]) return;
      event.preventDefault();
      keys[event.key]();
    });
    start();
  }

  const tools = section.querySelector(".tools");
  tools.hidden = false;
  const search = tools.querySelector("input[type=search]");
  const count = tools.querySelector("output");
  const fold = tools.querySelector("input[type=checkbox]");
  let found = [], place = -1;
  const look = () => {
    const words = search.value.toLowerCase();
    found = [];
    for (const node of visible().querySelectorAll(".node")) {
      const matches = words !== "" && node.textContent.toLowerCase().includes(words);
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
    count.textContent = `${place + 1} of ${found.length}`;
  });
  const choose = () => {
    for (const viewer of viewers) viewer.hidden = viewers.length > 1 && viewer.classList.contains("folded") !== fold.checked;
    look();
  };
  if (fold) fold.addEventListener("change", choose);
  choose();
}

// A link to a layer opens its details.
const open = () => {
  const row = location.hash && document.getElementById(location.hash.slice(1));
  for (const details of row ? row.querySelectorAll("details") : []) details.open = true;
};
addEventListener("hashchange", open);
open();

"use strict";

// Shows /openapi.json. Everything from it is put in as text.
const make = (tag, text, cls) => {
  const e = document.createElement(tag);
  if (text !== undefined) e.textContent = text;
  if (cls) e.className = cls;
  return e;
};

// example writes what a schema describes, a few levels deep.
function example(doc, schema, depth) {
  if (!schema) return null;
  if (schema.$ref) schema = doc.components.schemas[schema.$ref.split("/").pop()];
  if (schema.enum) return schema.enum[0];
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  switch (type) {
    case "object": {
      if (depth > 3) return {};
      const out = {};
      for (const [k, v] of Object.entries(schema.properties || {})) out[k] = example(doc, v, depth + 1);
      return out;
    }
    case "array": return depth > 3 ? [] : [example(doc, schema.items, depth + 1)];
    case "integer": case "number": return 0;
    case "boolean": return false;
    case "string": return schema.format === "date-time" ? "2026-01-02T03:04:05.000Z" : "";
  }
  return null;
}

function block(parent, title, doc, content) {
  const json = content && content["application/json"];
  if (!json) return;
  const shown = json.example !== undefined ? json.example : example(doc, json.schema, 0);
  parent.append(make("h4", title), make("pre", JSON.stringify(shown, null, 2)));
}

function show(doc, path, method, op) {
  const d = make("details");
  const s = make("summary");
  s.append(make("span", method.toUpperCase(), "method"), make("code", path.replace("/v1/tenants/{tenant}/agents/{agent}", "…")));
  if (op["x-amber-scope"]) s.append(make("span", op["x-amber-scope"], "scope"));
  d.append(s, make("p", op.summary), make("p", op.description), make("code", path));
  if (op.parameters && op.parameters.length) {
    const t = make("table");
    for (const p of op.parameters) {
      const row = make("tr");
      row.append(make("td", p.name), make("td", p.in), make("td", p.description || ""));
      t.append(row);
    }
    d.append(t);
  }
  block(d, "Body", doc, op.requestBody && op.requestBody.content);
  for (const [status, r] of Object.entries(op.responses || {})) block(d, "Answer " + status, doc, r.content);
  const kinds = Object.values(op.responses || {}).filter((r) => r.$ref).flatMap((r) => doc.components.responses[r.$ref.split("/").pop()]["x-amber-kinds"] || []);
  if (kinds.length) d.append(make("h4", "Errors"), make("p", [...new Set(kinds)].join(", ")));
  d.dataset.text = (op.operationId + " " + path + " " + op.summary).toLowerCase();
  return d;
}

fetch("/openapi.json").then((r) => r.json()).then((doc) => {
  const main = document.getElementById("operations");
  document.getElementById("about").textContent = doc.info.description + " Version " + doc.info.version + ".";
  const groups = new Map();
  for (const [path, methods] of Object.entries(doc.paths)) {
    for (const [method, op] of Object.entries(methods)) {
      const tag = op.tags[0];
      if (!groups.has(tag)) groups.set(tag, make("section"));
      groups.get(tag).append(show(doc, path, method, op));
    }
  }
  for (const [tag, section] of [...groups].sort()) {
    section.prepend(make("h2", tag));
    main.append(section);
  }
  document.getElementById("find").addEventListener("input", (e) => {
    const words = e.target.value.toLowerCase().split(/\s+/);
    for (const d of main.querySelectorAll("details")) d.hidden = !words.every((w) => d.dataset.text.includes(w));
  });
});

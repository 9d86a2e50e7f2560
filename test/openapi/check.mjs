// Holds the OpenAPI file against a running server, with a stock client that is loaded from the file.
//
//   node check.mjs FILE ROUTES URL TOKEN LINK
//
// FILE is docs/openapi.yaml. ROUTES has one "METHOD /path/{parameter}" a line, as the server's own
// table has them. TOKEN may send, read and manage; LINK is the token of an unsubscribe link. URL's
// database is thrown away afterwards.
// Prints what is wrong, and exits with 1 if anything is.
import { readFileSync } from "node:fs";
import { Validator } from "@seriousme/openapi-schema-validator";
import Ajv2020 from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { load } from "js-yaml";
import { OpenAPIClientAxios } from "openapi-client-axios";

const [file, routesFile, url, token, link] = process.argv.slice(2);
const definition = load(readFileSync(file, "utf8"));
const wrong = [];
const fail = (what) => wrong.push(what);
const methods = ["get", "put", "post", "delete", "patch", "head", "options"];

// The file is an OpenAPI file.
const validity = await new Validator().validate(structuredClone(definition));
if (!validity.valid) fail(`not valid OpenAPI: ${JSON.stringify(validity.errors)}`);

// Every route of the server is in the file, and the reverse.
const served = new Set(readFileSync(routesFile, "utf8").trim().split("\n"));
const described = new Set();
for (const [path, item] of Object.entries(definition.paths))
  for (const method of methods)
    if (item[method]) described.add(`${method.toUpperCase()} ${path}`);
for (const route of served) if (!described.has(route)) fail(`not in the file: ${route}`);
for (const route of described) if (!served.has(route)) fail(`not served: ${route}`);

const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats(ajv);
ajv.addSchema(definition, "file");
const validators = new Map();
function check(pointer, value, what) {
  const uri = "file#" + pointer.map((part) =>
    "/" + encodeURIComponent(part.replace(/~/g, "~0").replace(/\//g, "~1"))).join("");
  if (!validators.has(uri)) validators.set(uri, ajv.compile({ $ref: uri }));
  const validate = validators.get(uri);
  if (!validate(value)) fail(`${what}: ${ajv.errorsText(validate.errors)}`);
}

// Follows one $ref to a response or a parameter of the components.
function place(pointer) {
  const object = pointer.reduce((at, part) => at?.[part], definition);
  return object?.$ref ? object.$ref.slice(2).split("/") : pointer;
}

// The answer is one of those that the file knows for this operation, and has its form.
function checkAnswer(id, answer) {
  const operation = operations.get(id);
  const pointer = place([...operation, "responses", String(answer.status)]);
  const described = pointer.reduce((at, part) => at?.[part], definition);
  const what = `${id} ${answer.status}`;
  if (!described) return fail(`${what}: the file has no such answer`);
  const type = String(answer.headers["content-type"] ?? "").split(";")[0];
  if (!described.content) {
    if (answer.data) fail(`${what}: a body where the file has none`);
    return;
  }
  if (!described.content[type]) return fail(`${what}: the file has no ${type} there`);
  check([...pointer, "content", type, "schema"], answer.data, what);
}

const operations = new Map();
for (const [path, item] of Object.entries(definition.paths))
  for (const method of methods)
    if (item[method]) operations.set(item[method].operationId, ["paths", path, method]);

// Examples of requests are what the file itself allows.
for (const [id, operation] of operations) {
  const pointer = [...operation, "requestBody", "content", "application/json"];
  const media = pointer.reduce((at, part) => at?.[part], definition);
  if (media && !media.example) fail(`${id}: no example of its body`);
  if (media?.example) check([...pointer, "schema"], media.example, `example of ${id}`);
}
const example = (id) =>
  [...operations.get(id), "requestBody", "content", "application/json", "example"]
    .reduce((at, part) => at[part], definition);

const api = new OpenAPIClientAxios({
  definition,
  withServer: { url },
  axiosConfigDefaults: {
    headers: { Authorization: `Bearer ${token}` },
    validateStatus: () => true,
  },
});
const client = await api.init();
const called = new Set();
async function call(id, wanted, parameters, body, config) {
  called.add(id);
  const answer = await client[id](parameters, body, config);
  if (answer.status !== wanted)
    fail(`${id}: ${answer.status} instead of ${wanted}: ${JSON.stringify(answer.data)}`);
  checkAnswer(id, answer);
  return answer.data;
}

// What the client can do by the file alone.
const once = { headers: { "Idempotency-Key": "openapi-check" } };
const sent = await call("send", 202, null, example("send"), once);
await call("send", 202, null, example("send"), once);
await call("send", 422, null, { ...example("send"), priority: 9 }, once);
await call("send", 400, null, { ...example("send"), priority: 101 });
await call("send", 401, null, example("send"), { headers: { Authorization: "Bearer x" } });
await call("send", 415, null, "x", { headers: { "Content-Type": "text/plain" } });
await call("sendBatch", 202, null, example("sendBatch"));
const previewed = await call("preview", 200, null, example("preview"));
if (previewed.subject !== "Your order 17") fail(`preview: ${JSON.stringify(previewed)}`);
await call("preview", 422, null, { ...example("preview"), defaults: undefined, missing: "reject" });
const file1 = { name: "a.txt", media_type: "text/plain", content: "aGVsbG8=" };
await call("send", 202, null, { ...example("send"), attachments: [file1] });
await call("send", 400, null, { ...example("send"), attachments: [{ ...file1, content: "?" }] });
await call("getMessage", 200, { id: sent.id });
await call("getMessage", 404, { id: "17" });
const page = await call("listMessages", 200, { limit: 1, status: "queued" });
await call("listMessages", 200, { limit: 1, cursor: page.next });
await call("listMessages", 400, { limit: 0 });
await call("cancelMessage", 200, { id: sent.id });
const draft = await call("createCampaign", 201, null, example("createCampaign"));
const id = { id: draft.id };
await call("addRecipients", 200, id, example("addRecipients"));
await call("sendCampaign", 200, id);
await call("getCampaign", 200, id);
await call("listCampaigns", 200, { limit: 5 });
await call("pauseCampaign", 200, id);
await call("resumeCampaign", 200, id);
await call("cancelCampaign", 200, id);
await call("resumeCampaign", 409, id);
await call("suppress", 200, null, example("suppress"));
await call("listSuppressions", 200, {});
await call("getSuppression", 200, { address: "test@TEST.com" });
await call("unsuppress", 204, { address: "Test@test.com" });
await call("getSuppression", 404, { address: "test@test.com" });
const form = { headers: { "Content-Type": "application/x-www-form-urlencoded" } };
await call("getUnsubscribePage", 200, { token: link });
await call("getUnsubscribePage", 404, { token: "x" });
await call("getUnsubscribeMethods", 204, { token: link });
await call("unsubscribe", 200, { token: link }, "List-Unsubscribe=One-Click", form);
await call("unsubscribe", 400, { token: link }, "x=y", form);
await call("getSuppression", 200, { address: "left@example.org" });
await call("getLive", 200);
await call("getReady", 200);
for (const name of operations.keys()) if (!called.has(name)) fail(`never called: ${name}`);

for (const line of wrong) console.error(line);
console.log(`${operations.size} operations, ${wrong.length} problems`);
process.exit(wrong.length === 0 ? 0 : 1);

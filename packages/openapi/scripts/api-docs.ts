/**
 * Writes `docs/api.md` from the contract: the reference for reading without a server. With
 * `--check`, for CI, it compares instead.
 */
import { readFile, writeFile } from "node:fs/promises"
import { Api } from "@scheduling/domain/Api"
import { openApiDocument } from "../src/OpenApiDocument.ts"
import { renderGroups } from "./api-docs/endpoints.ts"
import { renderErrors } from "./api-docs/errors.ts"
import { renderRecords } from "./api-docs/records.ts"
import { anchor, link } from "./api-docs/text.ts"

const file = new URL("../../../docs/api.md", import.meta.url)
const document = openApiDocument(Api)
const groups = document.tags.map(({ name }) => link(name))

const generated =
  [
    "<!-- Generated from packages/domain/src by packages/openapi/scripts/api-docs.ts. Do not edit. -->",
    "# API reference",
    "The [README](../README.md) says how to start the service and make a first task. A started server shows this reference, with examples of every request and answer, at [`/docs`](http://127.0.0.1:4000/docs), and as an OpenAPI document at `/v1/openapi.json`.",
    `${groups.join(" · ")} · ${link("Records")} · ${link("Error codes")}`,
    document.info.description ?? "",
    renderGroups(document),
    renderRecords(document),
    renderErrors(document)
  ].join("\n\n") + "\n"

/** A link to nothing, or to one of two headings with the same name, would mislead readers. */
const headings = [...generated.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) => anchor(heading))
const missing = [...generated.matchAll(/\]\(#([^)]+)\)/g)]
  .map(([, target = ""]) => target)
  .filter((target) => !headings.includes(target))
const twice = headings.filter((heading, index) => headings.indexOf(heading) !== index)
if (missing.length > 0) throw new Error(`Links of docs/api.md lead nowhere: ${missing.join(", ")}`)
if (twice.length > 0) throw new Error(`Headings of docs/api.md are not unique: ${twice.join(", ")}`)

if (!process.argv.includes("--check")) {
  await writeFile(file, generated)
} else if ((await readFile(file, "utf8").catch(() => "")) !== generated) {
  console.error("docs/api.md does not match the contract. Run `npm run generate` and commit it.")
  process.exitCode = 1
}

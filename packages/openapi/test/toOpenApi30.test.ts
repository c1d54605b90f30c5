// @tags processes
import { assert, describe, it } from "@effect/vitest"
import { Api } from "@scheduling/domain/Api"
import { execFile } from "node:child_process"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { promisify } from "node:util"
import { toOpenApi30 } from "../src/toOpenApi30.ts"
import { publishedDocument } from "../src/publishedDocument.ts"

const redocly = resolve(import.meta.dirname, "../../../node_modules/.bin/redocly")

describe("The document in OpenAPI 3.0", () => {
  it("is what the specification allows", async () => {
    const folder = await mkdtemp(join(tmpdir(), "openapi-"))
    try {
      const file = join(folder, "openapi.json")
      await writeFile(file, JSON.stringify(toOpenApi30(publishedDocument(Api))))
      const env = { ...process.env, REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" }
      const { stderr } = await promisify(execFile)(
        process.execPath,
        [redocly, "lint", "--extends", "spec", file],
        { env, cwd: folder }
      )
      assert.include(stderr, "Your API description is valid")
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }, 120_000)

  it("has every operation and schema of the other", () => {
    const newer = publishedDocument(Api)
    const older = toOpenApi30(newer)
    const { schemas } = older.components as typeof newer.components
    assert.deepStrictEqual(Object.keys(older.paths as object), Object.keys(newer.paths))
    assert.deepStrictEqual(Object.keys(schemas), Object.keys(newer.components.schemas))
    const fieldOf = (component: string, name: string): unknown => {
      const field = Object(schemas[component]?.["properties"])[name]
      return typeof field.$ref === "string" ? schemas[field.$ref.split("/").at(-1)] : field
    }
    assert.containSubset(fieldOf("CronTask", "queue_key"), { type: "string", nullable: true })
    assert.containSubset(fieldOf("CronTask", "retry"), { nullable: true })
  })
})

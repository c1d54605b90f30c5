/**
 * Fails if the API has changed in a way that breaks clients. Compares the contract with
 * `promised.json`, the contract of the last release. `--renew` replaces this file:
 * docs/api-changes.md says when to do so.
 */
import { readFile, writeFile } from "node:fs/promises"
import { Api } from "@scheduling/domain/Api"
import { breakingChanges } from "../src/promises/breakingChanges.ts"
import { promisedPart } from "../src/promises/promisedPart.ts"
import { openApiDocument } from "../src/OpenApiDocument.ts"
import { withSharedParameters } from "../src/published/withSharedParameters.ts"

const file = new URL("../promised.json", import.meta.url)
const current = promisedPart(withSharedParameters(openApiDocument(Api)))

if (process.argv.includes("--renew")) {
  await writeFile(file, `${JSON.stringify(current, null, 1)}\n`)
} else {
  const problems = breakingChanges(JSON.parse(await readFile(file, "utf8")), current)
  if (problems.length > 0) {
    process.stderr.write(
      `These changes break clients of the API:\n${problems.map((one) => `- ${one}\n`).join("")}` +
        "docs/api-changes.md says how to avoid them, and when to accept them with\n" +
        "`node packages/openapi/scripts/promised.ts --renew`.\n"
    )
    process.exitCode = 1
  }
}

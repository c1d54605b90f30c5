import { spawnSync } from "node:child_process"
import { assert, describe, expect, it } from "vitest"
import { commands } from "../src/commands.ts"
import { manPage } from "../src/manPage.ts"

const page = manPage(commands, "1.2.3")

/** The page's text without roff requests and escapes, to the extent that the test requires. */
const shown = page
  .replaceAll(/^\.SS "(.*)"$/gm, "$1")
  .replaceAll(/\\f[BIR]|\\&/g, "")
  .replaceAll("\\-", "-")
  .replaceAll("\\e", "\\")

describe("the man page", () => {
  it("has every command with its options and examples", () => {
    for (const { examples, name, options = {}, summary } of commands) {
      expect(shown).toContain(`scheduling ${name}`)
      expect(shown).toContain(summary)
      for (const example of examples) expect(shown).toContain(example)
      for (const [option, { description }] of Object.entries(options)) {
        expect(shown).toContain(`--${option}`)
        expect(shown).toContain(description)
      }
    }
  })

  it("has no line of text that is taken for a request", () => {
    const requests = page.split("\n").filter((line) => /^[.']/.test(line))
    const known = /^\.(?:TH|SH|SS|PP|TP|nf|fi|RS|RE)\b/
    assert.deepStrictEqual(
      requests.filter((line) => !known.test(line)),
      []
    )
  })

  it.skipIf(spawnSync("groff", ["--version"]).error !== undefined)(
    "is formatted without a warning",
    () => {
      const { status, stderr, stdout } = spawnSync("groff", ["-man", "-Tutf8", "-ww"], {
        encoding: "utf8",
        input: page
      })
      expect([status, stderr]).toEqual([0, ""])
      // The formatter prints each bold letter twice, with a backspace in between.
      expect(stdout.replaceAll(/.\u0008/g, "")).toContain("EXIT STATUS")
    }
  )
})

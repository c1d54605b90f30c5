import { describe, expect, it } from "vitest"
import { releaseNotes } from "../../../scripts/release-notes.ts"

const versions = { "package.json": "1.2.3", "packages/sdk/package.json": "1.2.3" }
const changelog = `# Changelog

## [Unreleased]

## [1.2.3] - 2026-02-01

### Added

- A thing.

## [1.2.2] - 2026-01-01

- Another.
`

describe("the notes of a release", () => {
  it("are the section of the changelog for its version", () => {
    const notes = "### Added\n\n- A thing."
    expect(releaseNotes("v1.2.3", versions, changelog)).toEqual({ notes })
  })

  it.each([
    ["a tag that is no version", "1.2.3", versions, changelog, "1.2.3 is not a tag"],
    [
      "a package of another version",
      "v1.2.3",
      { ...versions, "packages/sdk/package.json": "1.2.2" },
      changelog,
      "packages/sdk/package.json has the version 1.2.2, not 1.2.3"
    ],
    [
      "a version that is not in the changelog",
      "v1.3.0",
      { "package.json": "1.3.0" },
      changelog,
      "no section [1.3.0]"
    ],
    [
      "a version without a date",
      "v1.2.3",
      versions,
      changelog.replace(" - 2026-02-01", ""),
      "YYYY-MM-DD"
    ],
    [
      "a version with an empty section",
      "v1.2.3",
      versions,
      changelog.replace("### Added\n\n- A thing.\n", ""),
      "says nothing of 1.2.3"
    ]
  ])("are refused to %s", (_, tag, packages, text, problem) => {
    expect(releaseNotes(tag, packages, text)).toEqual({
      problem: expect.stringContaining(problem)
    })
  })
})

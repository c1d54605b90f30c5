import { globSync, readFileSync } from "node:fs"
import { availableParallelism } from "node:os"
import { relative } from "node:path"
import { defineConfig } from "vitest/config"
import { BaseSequencer, type TestSpecification } from "vitest/node"
import { testsByStore } from "./scripts/tests-of-store.ts"

/**
 * What a test file needs, said in its first line: `// @tags processes long`.
 *
 * - `alone`: the machine to itself, because it measures several nodes
 * - `processes`: it starts the service, or npm, as processes
 * - `stores`: it starts or migrates stores of its own
 * - `slow`: it takes long, races, or goes through every endpoint
 * - `long`: it takes longest, so it starts first
 * - `idle`: it waits by the clock of the machine most of its time, and leaves a core idle
 * - `embedded`, `postgres`: its processes behave the same on both stores, so CI runs it on this one
 */
const knownTags = [
  "alone",
  "processes",
  "stores",
  "slow",
  "long",
  "idle",
  "embedded",
  "postgres"
] as const
type Tag = (typeof knownTags)[number]

const tagsOf = (file: string): ReadonlySet<string> => {
  const [, words = ""] = /^\/\/ @tags (.*)\n/.exec(readFileSync(file, "utf8")) ?? []
  const tags = words.split(" ").filter((word) => word !== "")
  const unknown = tags.find((tag) => !knownTags.some((known) => known === tag))
  if (unknown !== undefined) throw new Error(`${file}: "${unknown}" is no tag of vitest.config.ts`)
  return new Set(tags)
}

const service = "{packages/*/test,proofs}/**/*.test.ts"
const tagged = new Map(globSync(service).map((file) => [file, tagsOf(file)]))
const having = (...tags: ReadonlyArray<Tag>): Array<string> =>
  [...tagged].flatMap(([file, has]) => (tags.some((tag) => has.has(tag)) ? [file] : []))

const alone = having("alone")

/**
 * `npm test` is quick because it leaves these out. `npm run test:all` and CI run them, and naming a
 * file runs it wherever it is.
 */
const isFileNamed = process.argv.slice(2).some((word) => word !== "run" && !word.startsWith("-"))
const leftOut = isFileNamed ? [] : having("alone", "processes", "stores", "slow")

/**
 * The halves of CI. Tests without a store run in the embedded half alone, and slow ones with a store
 * in the other alone: many requests at once are hardest on the store that runs them at once.
 */
const elsewhere: Readonly<Record<string, () => ReadonlyArray<string>>> = {
  embedded: () => [...testsByStore(having("slow")).withStore, ...having("postgres")],
  postgres: () => [...testsByStore([...tagged.keys()]).withoutStore, ...having("embedded")]
}

const ofOtherHalf = elsewhere[process.env["CI_HALF"] ?? ""]?.() ?? []

const hasTag = ({ moduleId }: TestSpecification, tag: Tag) =>
  tagged.get(relative(process.cwd(), moduleId))?.has(tag) === true

/**
 * Long files start first. The others follow by how long they took here the last time, or by size,
 * with the idle ones spread among them.
 */
class LongFilesFirst extends BaseSequencer {
  override async sort(files: Array<TestSpecification>) {
    // oxlint-disable-next-line unicorn/no-array-sort -- it is Vitest's own
    const byDuration = await super.sort(files)
    const first = byDuration.filter((file) => hasTag(file, "long"))
    const others = byDuration.filter((file) => !hasTag(file, "long"))
    const idle = others.filter((file) => hasTag(file, "idle"))
    const rest = others.filter((file) => !hasTag(file, "idle"))
    const between = rest.length / idle.length
    const placed = [
      ...rest.map((file, at) => ({ file, at })),
      ...idle.map((file, nth) => ({ file, at: nth * between - 0.5 }))
    ].toSorted((one, other) => one.at - other.at)
    return [...first, ...placed.map(({ file }) => file)]
  }
}

export default defineConfig({
  test: {
    // The files of a worker share its modules and its embedded store, which is emptied for each
    // file.
    isolate: false,
    // Compiled modules are kept between runs, by their content.
    fsModuleCache: true,
    sequence: { sequencer: LongFilesFirst },
    // The longest test takes a few seconds if it runs alone, and on the slow cores of CI, beside a
    // browser, half a minute. A file starts a database and a server first.
    testTimeout: process.env["CI"] === undefined ? 30_000 : 120_000,
    hookTimeout: 90_000,
    // CI's machine may stand still for seconds. What passes only the second time is a bug all the
    // same, so CI lists it.
    retry: process.env["CI"] === undefined ? 0 : 1,
    // The server loads this first too, so what is tested is what runs.
    setupFiles: ["effect/schema/SchemaJITCompiler/enable", "./scripts/record-statements.ts"],
    projects: [
      {
        extends: true,
        test: {
          name: "service",
          include: [service],
          exclude: [...alone, ...leftOut, ...ofOtherHalf],
          globalSetup: [
            "./packages/server/test/support/storeFiles.ts",
            "./packages/server/test/support/dropDatabases.ts"
          ],
          // More than there are cores, because tests wait for processes and for the store. In CI the
          // panel's browser runs beside the embedded half, and more workers would only take turns.
          maxWorkers: availableParallelism() + (process.env["CI_HALF"] === "embedded" ? 0 : 1),
          sequence: { groupOrder: 0 }
        }
      },
      {
        extends: true,
        test: {
          name: "cluster",
          include: alone,
          exclude: leftOut,
          testTimeout: 120_000,
          maxWorkers: 1,
          sequence: { groupOrder: 1 }
        }
      }
    ]
  }
})

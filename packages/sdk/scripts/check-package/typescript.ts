import { join } from "node:path"
import { run, printLine, writeFiles } from "../command.ts"

/** The setups of users' projects. Node16 and Node18 cannot import ES modules from CommonJS. */
const setups = {
  node16: { module: "node16", moduleResolution: "node16" },
  node18: { module: "node18", moduleResolution: "node16" },
  nodenext: { module: "nodenext", moduleResolution: "nodenext" },
  bundler: { module: "preserve", moduleResolution: "bundler" }
} as const

export type Setup = keyof typeof setups

/** A folder of programs, with the type in its package.json. */
export interface Folder {
  readonly name: string
  readonly setups: ReadonlyArray<Setup>
  readonly lib: ReadonlyArray<string>
}

const tsconfig = (setup: Setup, lib: ReadonlyArray<string>) => ({
  compilerOptions: {
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
    target: "ES2022",
    ...setups[setup],
    lib: [...lib],
    types: [],
    outDir: "out"
  },
  include: ["*.ts"]
})

/**
 * Type-checks strictly, including the declarations of the package. The output of `node16` is what
 * runs.
 */
export const typeCheck = async (
  project: string,
  folders: ReadonlyArray<Folder>,
  tsc: string
): Promise<void> => {
  const version = run("tsc", process.execPath, [tsc, "--version"], project).trim()
  for (const { lib, name, setups: wanted } of folders) {
    // The first setup comes last, so that its output stays.
    for (const setup of wanted.toReversed()) {
      const folder = join(project, name)
      await writeFiles(folder, { "tsconfig.json": tsconfig(setup, lib) })
      run(`${version}, ${setup}, ${name}`, process.execPath, [tsc, "-p", "."], folder)
    }
    printLine(
      `type-checks with TypeScript ${version.replace("Version ", "")}: ${name}, ${wanted.join(", ")}`
    )
  }
}

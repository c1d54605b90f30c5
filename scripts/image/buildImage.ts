import { existsSync, lstatSync, readFileSync } from "node:fs"
import { cp, mkdir } from "node:fs/promises"
import { basename, join, matchesGlob, relative } from "node:path"
import { run, printLine } from "../../packages/sdk/scripts/command.ts"
import {
  type Instruction,
  pairsIn,
  parseDockerfile,
  type Stage,
  parseExecForm
} from "./Dockerfile.ts"

/** A replayed stage: the folder with its files, and the command that starts it. */
export interface Image {
  readonly folder: string
  readonly workdir: string
  readonly env: Readonly<Record<string, string>>
  readonly entrypoint: ReadonlyArray<string>
  readonly command: ReadonlyArray<string>
  readonly healthcheck: ReadonlyArray<string>
}

/**
 * Replays a Dockerfile without Docker. Each stage becomes a subfolder of `folder`, with the same
 * files copied into it and the same commands run in it. Returns the last stage. A replay detects
 * missing files, failing commands, and a program that does not start. It does not detect problems
 * with user permissions, or programs that are missing from the base image.
 */
export const buildImage = async (
  context: string,
  dockerfile: string,
  folder: string
): Promise<Image> => {
  const stages = new Map<string, Image>()
  let image: Image | undefined
  for (const [index, stage] of parseDockerfile(
    readFileSync(join(context, dockerfile), "utf8")
  ).entries()) {
    const name = stage.name ?? String(index)
    printLine(`${dockerfile}: stage ${name}`)
    image = await buildStage(stage, join(folder, name), context, stages)
    stages.set(name, image)
  }
  if (image === undefined) throw new Error(`${dockerfile} has no stage`)
  return image
}

/** Returns the environment for a program in the image, with image paths mapped to its folder. */
export const environmentOf = (image: Image): Record<string, string> => ({
  PATH: [
    join(image.folder, "usr/local/bin"),
    join(process.execPath, ".."),
    process.env["PATH"] ?? ""
  ].join(":"),
  HOME: process.env["HOME"] ?? "",
  ...image.env
})

const buildStage = async (
  { base, instructions }: Stage,
  folder: string,
  context: string,
  stages: ReadonlyMap<string, Image>
): Promise<Image> => {
  checkBase(base)
  for (const name of ["tmp", "usr/local/bin"]) {
    await mkdir(join(folder, name), { recursive: true })
  }
  const inFolder = (path: string) => (path.startsWith("/") ? join(folder, path) : path)
  const env: Record<string, string> = {}
  const image = {
    folder,
    workdir: folder,
    env,
    entrypoint: parseExecForm("[]"),
    command: parseExecForm("[]"),
    healthcheck: parseExecForm("[]")
  }
  for (const instruction of instructions) {
    const { flags, name, rest } = instruction
    if (name === "WORKDIR") {
      image.workdir = inFolder(rest)
      await mkdir(image.workdir, { recursive: true })
    } else if (name === "ENV") {
      for (const [key, value] of Object.entries(pairsIn(rest))) env[key] = inFolder(value)
    } else if (name === "COPY") {
      await copy(instruction, image, context, stages)
    } else if (name === "RUN") {
      run(`RUN ${rest}`, "sh", ["-c", onThisMachine(rest, folder)], image.workdir, {
        ...environmentOf(image),
        npm_config_prefer_offline: "true"
      })
    } else if (name === "ENTRYPOINT") {
      image.entrypoint = parseExecForm(rest)
    } else if (name === "CMD") {
      image.command = parseExecForm(rest)
    } else if (name === "HEALTHCHECK") {
      image.healthcheck = parseExecForm(rest.replace(/^CMD /, ""))
    } else if (!withoutEffect.has(name)) {
      throw new Error(`the instruction ${name} ${JSON.stringify(flags)} ${rest} is not known`)
    }
  }
  return image
}

/** Instructions that do not change the image's files. */
const withoutEffect = new Set(["USER", "VOLUME", "EXPOSE", "STOPSIGNAL"])

/** Checks that this machine can replace the base image, which requires the same version of Node. */
const checkBase = (base: string): void => {
  const [, version = ""] = /^node:(\d+\.\d+)-slim$/.exec(base) ?? []
  if (!process.version.startsWith(`v${version}.`)) {
    throw new Error(`the image is made from ${base}, but the tests run on Node ${process.version}`)
  }
}

/**
 * Rewrites a command for this machine: maps image paths to the folder, and makes the current user
 * the owner.
 */
const onThisMachine = (command: string, folder: string): string =>
  command
    .replaceAll(/(?<=\s)\/(?=\w)/g, `${folder}/`)
    .replace(/--owner=\w+/, `--owner=${process.getuid?.()}`)
    .replace(/--group=\w+/, `--group=${process.getgid?.()}`)

const copy = async (
  { flags, rest }: Instruction,
  image: Image,
  context: string,
  stages: ReadonlyMap<string, Image>
): Promise<void> => {
  const { from, ...others } = flags
  if (Object.keys(others).length > 0) throw new Error(`COPY ${rest} has flags that are not known`)
  const source = from === undefined ? context : stages.get(from)?.folder
  if (source === undefined) throw new Error(`COPY ${rest}: there is no stage ${from}`)
  const excluded = from === undefined ? ignoredIn(context) : () => false

  const words = rest.split(/\s+/)
  const target = words.at(-1) ?? ""
  const to = target.startsWith("/") ? join(image.folder, target) : join(image.workdir, target)
  for (const word of words.slice(0, -1)) {
    const path = join(source, word)
    if (!existsSync(path) || excluded(path)) {
      throw new Error(`COPY ${rest}: ${word} is not there, or .dockerignore excludes it`)
    }
    // A folder's contents are copied into the target. A file is copied into a target that ends with
    // `/`.
    const isInto = target.endsWith("/") && lstatSync(path).isFile()
    await cp(path, isInto ? join(to, basename(path)) : to, {
      recursive: true,
      verbatimSymlinks: true,
      filter: (file) => !excluded(file)
    })
  }
}

/** Returns whether `.dockerignore` excludes a path or a folder that contains it. */
const ignoredIn = (context: string): ((path: string) => boolean) => {
  const patterns = readFileSync(join(context, ".dockerignore"), "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
  const unknown = patterns.find((pattern) => /[!\\?[\]]|\/$/.test(pattern))
  if (unknown !== undefined) throw new Error(`the pattern ${unknown} of .dockerignore is not known`)
  return (path) => {
    const names = relative(context, path).split("/")
    return names.some((_, index) => {
      const around = names.slice(0, index + 1).join("/")
      return patterns.some((pattern) => matchesGlob(around, pattern))
    })
  }
}

#!/usr/bin/env node
/*
 * What `npm start` and the published package run. An older Node can read this file, and say what is
 * missing, where of the server itself it would only say `Unknown file extension ".ts"`.
 *
 * `exec` in the script of `npm start` takes away the shell in between: npm sends SIGTERM to the shell
 * alone, which ends without passing it on, and the server would stay. Windows has no `exec`, nor that
 * signal; there the second half of the line runs.
 */
"use strict"

const { existsSync } = require("node:fs")
const { join } = require("node:path")

const usage = `scheduling-service [command]

without a command               starts the service; its settings are environment variables
account COMMAND [EMAIL]         manages accounts: create, verify-link, reset-link, list, disable, enable, remove-second-factor
verify-audit [HASH]             checks that the audit log is unchanged
export-audit WORKSPACE_ID       prints the events of a workspace as JSON lines
backup FOLDER                   copies the embedded store into a new folder while the service runs
restore FOLDER                  restores a backup into DATA_DIR while the service is stopped
move --to URL                   moves the embedded store to PostgreSQL while the service is stopped
--version, --help
`

/** The commands, each with its program. The operator's program reads the command itself. */
const programs = {
  account: "operator",
  "verify-audit": "operator",
  "export-audit": "operator",
  backup: "operator",
  restore: "restore",
  move: "move"
}

const [major, minor] = process.versions.node.split(".").map(Number)
const isOld = major < 22 || (major === 22 && minor < 19)
const isPackage = !existsSync(join(__dirname, "src"))

if (isOld || !(isPackage || process.features.typescript)) {
  const needed = `Node 22.19 or newer${isOld ? "" : ", with its support of TypeScript"}`
  const remedy = isPackage
    ? ""
    : ". npm install brings one that fits for Linux, macOS and Windows, unless optional packages are omitted"
  process.stderr.write(
    `cannot start: the service needs ${needed}; this is Node ${process.versions.node} ` +
      `(${process.execPath})${remedy}\n`
  )
  process.exitCode = 1
} else {
  run(process.argv[2])
}

function run(command) {
  if (command === undefined) {
    stopWithNpm()
    load("main")
  } else if (command === "--version") {
    process.stdout.write(`${require("./package.json").version}\n`)
  } else if (command === "--help") {
    process.stdout.write(usage)
  } else if (Object.hasOwn(programs, command)) {
    const program = programs[command]
    if (program !== "operator" || command === "account") process.argv.splice(2, 1)
    load(program)
  } else {
    process.stderr.write(`scheduling-service has no command ${command}.\n\n${usage}`)
    process.exitCode = 1
  }
}

function load(program) {
  import(isPackage ? `./${program}.js` : `./src/${program}.ts`)
}

/**
 * Killed outright, npm and npx pass nothing on: the server would go on, holding its port and its data,
 * with nobody left to stop it.
 */
function stopWithNpm() {
  if (!["start", "npx"].includes(process.env.npm_lifecycle_event)) return
  const npm = process.ppid
  const watch = setInterval(() => {
    if (process.ppid === npm) return
    clearInterval(watch)
    process.kill(process.pid, "SIGTERM")
  }, 500)
  watch.unref()
}

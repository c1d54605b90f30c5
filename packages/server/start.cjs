/*
 * What `npm start` runs. An older Node can read this file, and say what is missing, where of the
 * server itself it would only say `Unknown file extension ".ts"`.
 *
 * `exec` in that script takes away the shell in between: npm sends SIGTERM to the shell alone, which
 * ends without passing it on, and the server would stay. Windows has no `exec`, nor that signal; there
 * the second half of the line runs.
 */
"use strict"

const [major, minor] = process.versions.node.split(".").map(Number)
const isOld = major < 22 || (major === 22 && minor < 19)

if (isOld || !process.features.typescript) {
  const needed = `Node 22.19 or newer${isOld ? "" : ", with its support of TypeScript"}`
  process.stderr.write(
    `cannot start: the service needs ${needed}; this is Node ${process.versions.node} ` +
      `(${process.execPath}). npm install brings one that fits for Linux, macOS and Windows, ` +
      "unless optional packages are omitted\n"
  )
  process.exitCode = 1
} else {
  stopWithNpm()
  import("./src/main.ts")
}

/**
 * Killed outright, npm passes nothing on: the server would go on, holding its port and its data, with
 * nobody left to stop it.
 */
function stopWithNpm() {
  if (process.env.npm_lifecycle_event !== "start") return
  const npm = process.ppid
  const watch = setInterval(() => {
    if (process.ppid === npm) return
    clearInterval(watch)
    process.kill(process.pid, "SIGTERM")
  }, 500)
  watch.unref()
}

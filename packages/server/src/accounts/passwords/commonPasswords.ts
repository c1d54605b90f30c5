import { readFileSync } from "node:fs"

/** Those of the 30,000 most common passwords that are long enough to be accepted otherwise. */
const common = new Set(
  readFileSync(new URL("./common-passwords.txt", import.meta.url), "utf8")
    .split("\n")
    .filter(Boolean)
)

export const isCommon = (password: string): boolean => common.has(password.toLowerCase())

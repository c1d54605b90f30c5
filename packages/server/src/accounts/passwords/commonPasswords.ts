import { readFileSync } from "node:fs"

/** The 30,000 most common passwords, as far as they are long enough to be allowed otherwise. */
const common = new Set(
  readFileSync(new URL("./common-passwords.txt", import.meta.url), "utf8")
    .split("\n")
    .filter(Boolean)
)

export const isCommon = (password: string): boolean => common.has(password.toLowerCase())

import { readFileSync } from "node:fs"

/** The passwords of acceptable length among the 30,000 most common ones. */
const common = new Set(
  readFileSync(new URL("./common-passwords.txt", import.meta.url), "utf8")
    .split("\n")
    .filter(Boolean)
)

export const isCommonPassword = (password: string): boolean => common.has(password.toLowerCase())

import { createContext } from "react"

/** The latest response bodies of a chain's steps, by step name. */
export const StepResponses = createContext<ReadonlyMap<string, string>>(new Map())

const maxValues = 40
const maxDepth = 4

/** Returns references to the values in a JSON response, each with its value. */
export const valuesInResponse = (
  step: string,
  answer: string
): ReadonlyArray<readonly [name: string, value: string]> => {
  const found: Array<readonly [name: string, value: string]> = []
  const add = (name: string, value: unknown, depth: number) => {
    if (found.length >= maxValues) return
    if (depth > 0) found.push([name, JSON.stringify(value).slice(0, 60)])
    if (typeof value !== "object" || value === null || depth === maxDepth) return
    for (const [key, inner] of Object.entries(value).slice(
      0,
      Array.isArray(value) ? 1 : undefined
    )) {
      add(name + (Array.isArray(value) ? `[${key}]` : memberOf(key)), inner, depth + 1)
    }
  }
  try {
    add(`steps.${step}.body`, JSON.parse(answer), 0)
  } catch {
    // A response that is not JSON can be used only as a whole.
  }
  return found
}

const memberOf = (key: string) => (/^[A-Za-z_][\w-]*$/.test(key) ? `.${key}` : `["${key}"]`)

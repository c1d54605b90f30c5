import { oneOf, searchOf, textIn } from "../ui/lists/search.ts"

export const repeatingSearch = searchOf({ name: textIn, status: oneOf(["active", "paused"]) })

export const delayedSearch = searchOf({
  name: textIn,
  status: oneOf(["pending", "running", "finished", "cancelled"])
})

/** The task that a new task is a copy of. */
export const copySearch = searchOf({ from: textIn })

/** The run that the page of a chain shows. */
export const runSearch = searchOf({ run: textIn })

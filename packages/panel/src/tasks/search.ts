import { oneOf, searchOf, textIn } from "../ui/lists/search.ts"

export const repeatingSearch = searchOf({ name: textIn, status: oneOf(["active", "paused"]) })

export const delayedSearch = searchOf({
  name: textIn,
  status: oneOf(["pending", "running", "finished", "cancelled"])
})

/** Search params of the new-task page: the id of the task to copy. */
export const copySearch = searchOf({ from: textIn })

/** Search params of the chain page: the selected run. */
export const runSearch = searchOf({ run: textIn })

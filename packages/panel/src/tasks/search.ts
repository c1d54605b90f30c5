import { oneOf, searchOf, searchTextOf } from "../ui/lists/search.ts"

export const repeatingTaskSearch = searchOf({
  name: searchTextOf,
  status: oneOf(["active", "paused"])
})

export const delayedSearch = searchOf({
  name: searchTextOf,
  status: oneOf(["pending", "running", "finished", "cancelled"])
})

/** The new-task page's search parameters: the id of the task to copy. */
export const newTaskSearch = searchOf({ from: searchTextOf })

/** The chain page's search parameters: the selected run. */
export const chainPageSearch = searchOf({ run: searchTextOf })

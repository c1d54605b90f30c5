import { createContext } from "react"

/** The prefix of the browser tab's title, such as the number of open incidents. */
export const TitlePrefix = createContext<string | undefined>(undefined)

import { createContext } from "react"

/** The prefix of the browser tab's title, such as the number of open incidents. */
export const TitleMark = createContext<string | undefined>(undefined)

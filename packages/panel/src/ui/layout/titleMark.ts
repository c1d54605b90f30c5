import { createContext } from "react"

/** The text before the title in the browser tab, such as the number of open incidents. */
export const TitleMark = createContext<string | undefined>(undefined)

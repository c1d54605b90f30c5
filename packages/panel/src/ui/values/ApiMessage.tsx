import { ShortTime } from "./Time.tsx"

const isoTime = /(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)/

/** An API message, with its UTC times converted to the user's time zone. */
export const ApiMessage = ({ text }: { readonly text: string }) => (
  <>
    {text
      .split(isoTime)
      .map((part, index) => (index % 2 === 0 ? part : <ShortTime key={index} at={part} />))}
  </>
)

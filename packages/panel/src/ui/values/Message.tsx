import { At } from "./Time.tsx"

const isoTime = /(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)/

/** A text of the API. The times in it are in UTC there, and on the reader's clock here. */
export const Message = ({ text }: { readonly text: string }) => (
  <>
    {text
      .split(isoTime)
      .map((part, index) => (index % 2 === 0 ? part : <At key={index} at={part} />))}
  </>
)

// An agent in JavaScript: one JSON object per line in, one JSON value per line out.
//   assay run my_questions.jsonl --agent "stdio:node my_agent.js" --reward math_equal_reward
const readline = require("node:readline");

const operations = { "+": (a, b) => a + b, "-": (a, b) => a - b, "*": (a, b) => a * b };

function answer(question) {
  const sum = question.match(/(\d+) ([-+*]) (\d+)/);
  if (!sum) return "unknown";
  return String(operations[sum[2]](Number(sum[1]), Number(sum[3])));
}

readline.createInterface({ input: process.stdin }).on("line", (line) => {
  const { question, step } = JSON.parse(line);
  console.error(`step ${step}: ${question}`); // standard error is free for messages
  console.log(JSON.stringify({ answer: answer(question), think: "looked for a sum" }));
});

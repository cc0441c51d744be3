// The sentences that answers are put together from. Each stands on its own, so that any may follow any.

/** A sentence around the part that it is given. */
export type Sentence = (part: string) => string;

/** Begin an answer; given the quoted question. */
export const openings: readonly [Sentence, ...Sentence[]] = [
  (question) => `You asked ${question}, and that is a fine place to begin.`,
  (question) => `Let us take ${question} and walk around it once.`,
  (question) => `${question}: there is more in that than fits here, so I begin small.`,
  (question) => `I hold ${question} up to the light, and this is what I see.`,
  (question) => `${question} can be read in two ways, and I take the kinder one.`,
  (question) => `With ${question} one could fill an evening. Here is the first minute of it.`,
  (question) => `To ${question} there is a short answer and an honest one. This is the honest one.`,
  (question) => `Somebody else would answer ${question} at once. I would turn it over first.`,
];

/** What can be said of a thing that one knows nothing of; given the word that the question turns on. */
export const thoughtsOn: readonly [Sentence, ...Sentence[]] = [
  (word) =>
    `I am only the demo model and have never met ${word}; still, three things help with nearly everything.`,
  (word) => `A real model would tell you about ${word}. I can only tell you how I would look for it.`,
  (word) => `Others know more about ${word} than the demo model does. What one can ask is easier to say.`,
  (word) => `Of ${word} I know the word and nothing behind it, so take this as a way of asking.`,
];

/** Three steps for whatever it is. */
export const steps: readonly [readonly string[], ...(readonly string[])[]] = [
  ['say what you know already', 'say what you would do with the answer', 'ask for the smallest example'],
  ['find the part that never changes', 'find the part that surprised you', 'ask what lies between the two'],
  ['draw it, however badly', 'take one thing away', 'see whether it still holds'],
  ['ask who needs it', 'ask what it costs', 'ask what happens without it'],
];

/** End an answer, with something that a person can try. */
export const remarks: readonly [string, ...string[]] = [
  'Press *Try again* and I will say it differently; this version stays where it is.',
  'Edit your question and the conversation forks: the old branch keeps every word it had.',
  'Set a checkpoint here if you like the view; you can always come back to it.',
  'Stop me in mid-sentence if you wish: *Continue* goes on at the very next word.',
  'Open the devtools and find this answer in the graph: one node, with your question as its parent.',
  'Press *By the way* and ask something aside; this conversation never hears it.',
  'Reload the page whenever you want; what we said is kept in this browser, not on a server.',
  'Type `/help` to see what else I can be asked to do, failures included.',
  'Switch to another branch while I speak: I finish where I began, and you can read it later.',
  'I am a small machine without a network, so all of this happened inside your browser.',
  'Open this chat in a second tab and write there too; no word of either will be lost.',
  'Look at the prompt in the devtools: what you read there is exactly what I was given.',
];

/** End a train of thought. */
export const musings: readonly [string, ...string[]] = [
  'A short answer will do; whoever wants more can ask for it. I will say one thing well and leave the rest.',
  'I could be clever here, but it is kinder to be clear. First the question, then the facts, then one thought.',
  'Nothing in it calls for haste. I will begin with the words as they were written and go on from there.',
];

/** Rows of the table in `/markdown`. */
export const rows: readonly string[] = [
  '| branch | a named pointer to a commit | a named pointer to the last message | IndexedDB | a few bytes |',
  '| checkpoint | a tag | a name for a message you want to find again | IndexedDB | a few bytes |',
  '| message | a commit | one node with one parent | IndexedDB | its text |',
  '| fragment | a file in the tree | a piece of the system prompt | memory, or the store if you ask | its tokens |',
];

/** A chapter of the long answer; its first sentence stays first. */
export interface Chapter {
  readonly title: string;
  readonly sentences: readonly string[];
}

/** What the long answer goes on about. */
export const chapters: readonly Chapter[] = [
  {
    title: 'The list that forgets',
    sentences: [
      'Most chats keep a list, and a list has room for one past only.',
      'Change a question in the middle, and everything below it becomes an answer to something nobody asked.',
      'So the usual way is to cut the list there and throw the rest away.',
      'It is quick, it is simple, and now and then it costs an afternoon of good work.',
      'People notice it at the moment in which they look for a sentence that they know they have read.',
      'Then they copy answers into documents, just in case, and the chat has stopped being the place where things are kept.',
    ],
  },
  {
    title: 'The tree that remembers',
    sentences: [
      'Give every message a parent instead of a position, and nothing has to be thrown away.',
      'An edited question is a sister of the first one; both hang from the same answer, and both keep what grew below them.',
      'A conversation is then a walk from the newest message to the root, turned around.',
      'The walk is short to describe and cheap to take, even after ten thousand messages.',
      'Old paths cost nothing while nobody walks on them.',
      'And a question like "what did I say before?" has an answer that can be looked up, not remembered.',
    ],
  },
  {
    title: 'Branches',
    sentences: [
      'A branch is a name that points to the end of one path.',
      'When you speak, the path grows by a message and the name moves along.',
      'When you try something else, a second name begins where you stand, and the first waits.',
      'Nobody has to decide beforehand which of the two will turn out to be the main one.',
      'You can go back and forth between them as between two windows of a house that look out on the same garden.',
      'Deleting a name does not hurt the messages that another name still reaches.',
    ],
  },
  {
    title: 'Checkpoints',
    sentences: [
      'Some moments deserve a bookmark: before an experiment, after a decision, at the end of a day.',
      'A checkpoint is a name for a message, and it does not move when the conversation does.',
      'Restoring one is no surgery; a branch is set down there, and whatever came later is still where it was.',
      'That makes it easy to be brave.',
      'One asks the odd question, follows it for as long as it is interesting, and comes home in a single step.',
      'The best bookmarks carry the reason in their name.',
    ],
  },
  {
    title: 'Fragments',
    sentences: [
      'What a model is told before the first question decides much of what it says after it.',
      'Written as one long string, that text is hard to read, harder to change and impossible to compare.',
      'Written as fragments, it becomes a set of small pieces: a role, a few hints, a guardrail, a term with its meaning.',
      'Each can be added by the part of the app that knows about it, and taken away again.',
      'A piece that is gone leaves no gap, and a piece that is new needs no rewriting of the others.',
      'The devtools show the same text that I was given, to the letter.',
    ],
  },
  {
    title: 'Interruptions',
    sentences: [
      'Connections break, laptops close, and people press the stop button because they have seen enough.',
      'What had arrived by then is worth keeping, so it is written down while it grows.',
      'An interrupted answer says that it is one, and offers to go on.',
      'Going on means exactly that: the next word follows the last one, none is said twice and none is missing.',
      'I can do it because my whole answer follows from the conversation, so I only have to find the place.',
      'Other models do it with more imagination and less certainty.',
    ],
  },
  {
    title: 'Two tabs',
    sentences: [
      'Sooner or later the same chat is open twice, and both windows have something to say.',
      'The honest rule is that whoever comes second does not overwrite the first.',
      'The later turn finds that the branch has moved, takes a new name and goes on beside it.',
      'Both turns are there, both can be read, and a short note tells what happened.',
      'It is the kind of problem that one never meets in a demonstration and always meets on a Tuesday.',
      'So it is better solved before somebody has to explain it.',
    ],
  },
  {
    title: 'Close to home',
    sentences: [
      'All of this lives in your browser, next to your bookmarks and not far from your cookies.',
      'There is no server that has to be up, no account, and nobody who reads along.',
      'The price is that the browser is the only keeper, so it should be asked politely to keep things for good.',
      'You can take your data out as a file, look at it, and bring it back.',
      'You can also delete it, and then it is gone, which is a promise that few places make.',
      'I find that a good arrangement for words that somebody took the trouble to write.',
    ],
  },
];

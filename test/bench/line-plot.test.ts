import { describe, expect, it } from 'vitest';
import { linePlot, plotFile } from '../../bench/harness/line-plot.ts';

const plot = linePlot({
  caption: 'a < b',
  x: {
    isLog: true,
    ticks: [
      { at: 1, label: 'one' },
      { at: 100, label: 'hundred' },
    ],
  },
  y: {
    ticks: [
      { at: 0, label: '0' },
      { at: 4, label: '4', colour: '#06c' },
    ],
  },
  curves: [
    {
      label: 'cost',
      colour: '#111',
      points: [
        [1, 0],
        [10, 2],
        [100, 4],
      ],
    },
  ],
});

describe('a plot of lines', () => {
  it('puts a power of ten halfway between its neighbours, and the largest value on top', () => {
    expect(plot).toContain('<polyline points="80.0,335.0 305.0,187.5 530.0,40.0"');
  });

  it('draws a single point as a dot', () => {
    const axis = { ticks: [0, 2].map((at) => ({ at, label: String(at) })) };
    const dot = linePlot({
      caption: '',
      x: axis,
      y: axis,
      curves: [{ label: 'own', colour: '#0a7', points: [[1, 1]] }],
    });
    expect(dot).toContain('<circle cx="305.0" cy="187.5" r="5" fill="#0a7"/>');
    expect(dot).not.toContain('<polyline');
  });

  it('escapes its texts', () => expect(plot).toContain('a &lt; b'));

  it('a file has its plots below each other', () => {
    const file = plotFile('Both', [plot, plot]);
    expect(file).toContain('height="760"');
    expect(file.match(/<polyline/g)).toHaveLength(2);
    expect(file).toContain('translate(0 380)');
  });

  it('a single size is drawn without a division by zero', () => {
    const one = linePlot({
      caption: '',
      x: { ticks: [{ at: 5, label: '5' }] },
      y: {
        ticks: [
          { at: 0, label: '0' },
          { at: 1, label: '1' },
        ],
      },
      curves: [{ label: '', colour: '#111', points: [[5, 1]] }],
    });
    expect(one).not.toContain('NaN');
  });
});
